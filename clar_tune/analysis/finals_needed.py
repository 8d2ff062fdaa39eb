"""How many finals the effects of each graph need, where precision decides that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from clar_tune.analysis.arms import plain_partners
from clar_tune.precision import Precision, Scores, finals_of_graph, first_effects
from clar_tune.records import from_stored
from clar_tune.rows import RunRow

if TYPE_CHECKING:
    from clar_tune.analysis.runs import StudyView


def finals_by_precision(row: RunRow, studies: Sequence[StudyView]) -> dict[str, int]:
    """By graph, how many finals each arm of its winners is to have, as far as it is decided.

    The first finals of a graph decide it, as they do for the driver of the run: the largest number
    that one of its effects needs is that of all.
    """
    partners, found = plain_partners(row.planned), dict[str, int]()
    for graph in dict.fromkeys(plan.graph for plan in row.planned if plan.precision):
        own = [study for study in studies if study.graph == graph]
        planned = [plan for plan in row.planned if plan.graph == graph]
        rule = from_stored(Precision, planned[0].precision or {})
        begun = len(own) == len(planned) * row.search and all(study.over for study in own)
        if begun and (all(map(_has_first, own)) or any(map(_has_more, own))):
            plains = {(s.graph, s.method, s.condition, s.search): s for s in own}
            effects = []
            for study in own:
                partner = partners.get((study.graph, study.method, study.condition))
                plain = plains.get((*partner, study.search)) if partner else None
                arms = {arm: _scores(study, arm) for arm in ("on", *study.arms_asked)}
                beside = _scores(plain, "on") if plain else {}
                effects.append(first_effects(arms, beside, rule.at_least))
            found[graph] = finals_of_graph([e for e in effects if e], rule)
    return found


def _scores(study: StudyView, arm: str) -> Scores:
    return {final.repeat: final.test_score for final in study.arm(arm)}


def _numbers(study: StudyView) -> Iterable[set[int]]:
    return ({final.repeat for final in study.arm(arm)} for arm in ("on", *study.arms_asked))


def _has_first(study: StudyView) -> bool:
    """Whether all first finals are there; one without a winner has none to wait for."""
    first = set(range(study.planned.finals))
    return study.winner is None or all(first <= numbers for numbers in _numbers(study))


def _has_more(study: StudyView) -> bool:
    """Whether more than the first are there: their number was decided."""
    return any(numbers and max(numbers) >= study.planned.finals for numbers in _numbers(study))
