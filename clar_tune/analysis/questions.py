"""What is asked of a comparison: by its reader, by the spaces of its runs, or by what there is."""

from collections.abc import Sequence
from typing import NamedTuple

from clar_tune.analysis.effect_records import BASELINE
from clar_tune.analysis.layout import Place, whole_condition
from clar_tune.analysis.planned import (
    Planned,
    backbone_of,
    backbones_of,
    regularizer_of,
    values_of,
)
from clar_tune.analysis.runs import RunView
from clar_tune.graphs import VARIANTS
from clar_tune.rows import BACKBONES, COMPARED, PENALTIES, Question


class Asked(NamedTuple):
    """The questions, and the winners side by side that answer them."""

    questions: tuple[Question, ...]
    baseline: str
    """The backbone that others are compared with, asked for or not."""
    backbones: Sequence[Planned]
    values: Sequence[Sequence[Planned]]
    """Of each question about a key of conditions."""

    @property
    def for_backbones(self) -> bool:
        """Whether they are asked for; else they are described beside what is."""
        return any(question.compare == BACKBONES for question in self.questions)


def asked_of(
    runs: Sequence[RunView], places: Sequence[Place], baseline: str | None, *, answered: bool
) -> Asked:
    """Who names a ``baseline`` asks for backbones first.

    ``answered`` is whether effects or correlations answer what runs are about that ask nothing.
    """
    questions = _stated(runs) or (() if answered else _implied(places))
    if baseline is not None:
        others = (question for question in questions if question.compare != BACKBONES)
        questions = Question(BACKBONES, baseline), *others
    usual = next((q.baseline for q in questions if q.compare == BACKBONES), BASELINE)
    keys = [question for question in questions if question.compare not in COMPARED]
    return Asked(
        questions,
        usual,
        backbones_of(places, usual),
        [values_of(places, question.compare, question.baseline) for question in keys],
    )


def _stated(runs: Sequence[RunView]) -> tuple[Question, ...]:
    """What all runs ask alike."""
    asked = {run.row.questions for run in runs}
    return asked.pop() if len(asked) == 1 else ()


def _implied(places: Sequence[Place]) -> tuple[Question, ...]:
    """What is about a run without effects: where penalties are on graphs alone, nothing."""
    penalties = any(map(regularizer_of, places))
    if penalties and not any(condition for _, condition, _ in places):
        return ()
    found = [Question(PENALTIES)] if penalties else []
    plain = [backbone_of(place) for place in places if not regularizer_of(place)]
    usual = BASELINE if BASELINE in plain or not plain else plain[0]
    if backbones_of(places, usual):
        found.append(Question(BACKBONES, usual))
    return tuple(found) or _of_the_only_key(places)


def _of_the_only_key(places: Sequence[Place]) -> tuple[Question, ...]:
    """Each value against the first one, where one key alone is swept."""
    values: dict[str, dict[str, None]] = {}
    for key, value in (pair for place in places for pair in whole_condition(place).items()):
        if key not in VARIANTS or VARIANTS[key].metric is None:
            values.setdefault(key, {})[value] = None
    swept = [(key, next(iter(own))) for key, own in values.items() if len(own) > 1]
    return (Question(*swept[0]),) if len(swept) == 1 else ()
