"""The effect of each penalty: what switching it on changes, in both scopes, before verdicts."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from clar_tune.analysis.cell_arms import Arms, Finals, arms_of
from clar_tune.analysis.runs import StudyView
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import (
    Effect,
    SplitDifferences,
    collapsed,
    error_of_nodes,
    over_nodes,
)
from clar_tune.analysis.units import ByUnit, Ground, Unit, by_unit, difference, mean_of, unit_of
from clar_tune.graphs import Protocol
from clar_tune.metric import metric_named
from clar_tune.records import Value
from clar_tune.rows import FinalRow

Groups = Sequence[ByUnit]
"""Differences of each search, by unit."""
ARMS = ("on", "off", "cross", "plain")
"""The arms that an effect is made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The effect of one penalty on one row, and all that its verdict asks for."""

    values: tuple[float, ...]
    """The effect of every unit."""
    effect: Effect | None
    """Over splits; none for a single unit."""
    nodes: Effect | None
    """Over nodes; none where a score is no share of nodes, or the split is fixed."""
    kept: Effect | None
    crossed: Effect | None
    on_plain: Effect | None
    balanced: Effect | None
    over_nl: Effect | None
    over_any: Effect | None
    above: bool | None
    plain_above: bool | None
    collapsed: int
    finals: int
    unused: bool
    has_cross: bool
    level: float
    """Mean score without the penalty."""
    configuration: str
    """Names the parameters of its winners and of the plain ones."""
    node_error: float = 0.0
    """The part of the error over nodes that no number of splits lowers."""

    @property
    def mean(self) -> float:
        """Of the effect."""
        return fmean(self.values) if self.values else 0.0


def measured(one: Sample, plain: Sample | None) -> Measured | None:
    """The effect of a regularized method on a row; none if its arms were not trained."""
    others = {study.search: study for study in plain.studies} if plain else {}
    searches = [arms_of(study, others.get(study.search)) for study in one.studies]
    searches = [arms for arms in searches if arms.known]
    if not searches:
        return None
    ground, has_cross = one.ground, all(arms.cross or arms.unused for arms in searches)

    def between(first: str, second: str, value: Callable[[FinalRow], float | None]) -> Groups:
        return [_difference(arms, first, second, value, ground) for arms in searches]

    def combined(value: Callable[[FinalRow], float | None]) -> tuple[Groups, Groups, Groups]:
        kept, crossed = between("on", "off", value), between("cross", "plain", value)
        if not has_cross:
            return kept, (), kept
        return kept, crossed, [mean_of(*own) for own in zip(kept, crossed, strict=True)]

    kept, crossed, both = combined(_score)
    answered = _splits(searches, ground, has_cross=has_cross)
    counted = [finals for arms in searches for finals in _distinct(arms)]
    return Measured(
        values=tuple(ground.values(both)),
        effect=ground.effect(both),
        nodes=over_nodes(answered) if answered else None,
        node_error=error_of_nodes(answered) if answered else 0.0,
        kept=ground.effect(kept),
        crossed=ground.effect(crossed),
        on_plain=ground.effect(between("on", "plain", _score)),
        balanced=ground.effect(combined(lambda final: final.test_balanced)[2]),
        over_nl=ground.effect(between("on", "nl", _score)),
        over_any=ground.effect(between("on", "any", _score)),
        above=above_floor([(*arms.on, *arms.cross) for arms in searches], ground),
        plain_above=above_floor([(*arms.off, *arms.plain) for arms in searches], ground),
        collapsed=sum(collapses(finals) for finals in counted),
        finals=sum(map(len, counted)),
        unused=all(arms.unused for arms in searches),
        has_cross=has_cross,
        level=fmean(f.test_score for arms in searches for f in arms.off or arms.plain or arms.on),
        configuration=_configuration([*one.studies, *others.values()]),
    )


def _distinct(arms: Arms) -> list[Finals]:
    """Finals of its arms, once where two arms are the same trainings."""
    return list({id(finals): finals for finals in (getattr(arms, n) for n in ARMS)}.values())


def _score(final: FinalRow) -> float:
    return final.test_score


def _difference(
    arms: Arms,
    first: str,
    second: str,
    value: Callable[[FinalRow], float | None],
    ground: Ground,
) -> ByUnit:
    """Unit by unit; a penalty that is off makes no difference between arms that it has not."""
    if arms.unused and (first, second) != ("on", "plain"):
        return dict.fromkeys(by_unit(arms.on, ground.protocol, value), 0.0)
    one, other = (by_unit(getattr(arms, name), ground.protocol, value) for name in (first, second))
    return difference(one, other, ground.sign)


def above_floor(searches: Sequence[Finals], ground: Ground) -> bool | None:
    """Whether finals beat a constant answer: the lower end of the 95 % interval is above 0.

    Of the paired difference, over splits. None where the floor is not known, or one unit is all.
    """
    groups = [
        by_unit(
            finals,
            ground.protocol,
            lambda f: None if f.floor is None else ground.sign * (f.test_score - f.floor),
        )
        for finals in searches
    ]
    found = ground.plainly.effect(groups)
    return None if found is None else found.mean - found.half_width() > 0


def collapses(finals: Finals) -> int:
    """How many finals of an arm lie more than 25 points below their median."""
    if not finals or not metric_named(finals[0].metric).percent:
        return 0
    return collapsed([final.test_score for final in finals])


def _configuration(studies: Sequence[StudyView]) -> str:
    """A hash of what was chosen: equal where effects are of the same configurations.

    Without the last digits, which differ between processors.
    """

    def told(value: Value) -> Value:
        return f"{value:.10g}" if isinstance(value, float) else value

    params = [study.best.params if study.best else {} for study in studies]
    chosen = [{name: told(value) for name, value in own.items()} for own in params]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:12]


def _splits(
    searches: Sequence[Arms], ground: Ground, *, has_cross: bool
) -> list[SplitDifferences]:
    """What the second scope is told from, of one search; nothing where it cannot be told."""
    if ground.over_searches or ground.protocol.units == "seed" or searches[0].unused:
        return []
    names = ARMS if has_cross else ARMS[:2]
    answers = [_answers(getattr(searches[0], name), ground.protocol) for name in names]
    splits = []
    for unit in answers[0]:
        if all(unit in own for own in answers):
            found = _of_split([own[unit] for own in answers])
            if found is None:
                return []
            splits.append(found)
    return splits if len(splits) > 1 else []


def _of_split(answers: Sequence[SplitDifferences]) -> SplitDifferences | None:
    """On less off, or the mean of it and cross less plain; none if test nodes differ."""
    nodes = answers[0].nodes
    if not all(np.array_equal(nodes, other.nodes) for other in answers):
        return None
    pairs = zip(answers[::2], answers[1::2], strict=True)
    halves = [one.values - other.values for one, other in pairs]
    return SplitDifferences(nodes, np.mean(halves, axis=0))


def _answers(finals: Finals, protocol: Protocol) -> dict[Unit, SplitDifferences]:
    """The test nodes of each unit, and how often each was answered rightly."""
    found: dict[Unit, list[tuple[NDArray[np.int64], NDArray[np.float64]]]] = {}
    for final in finals:
        if final.correct is not None and final.tested is not None:
            nodes = np.flatnonzero(_bits(final.tested))
            right = _bits(final.correct)[: len(nodes)].astype(float)
            found.setdefault(unit_of(final, protocol), []).append((nodes, right))
    return {
        unit: SplitDifferences(own[0][0], np.mean([right for _, right in own], axis=0))
        for unit, own in found.items()
    }


def _bits(packed: bytes) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(packed, np.uint8))
