"""The effect of each penalty: what switching it on changes, in both scopes, before verdicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from clar_tune.analysis.cell_arms import Arms, Finals, arms_of
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import (
    Effect,
    SplitDifferences,
    collapsed,
    over_nodes,
    p_of_sign_flips,
)
from clar_tune.analysis.units import ByUnit, Ground, Unit, by_unit, difference, mean_of, unit_of
from clar_tune.graphs import Protocol
from clar_tune.metric import metric_named
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

    @property
    def mean(self) -> float:
        """Of the effect."""
        return fmean(self.values) if self.values else 0.0

    @property
    def p_of_flips(self) -> float:
        """Of the test that needs no normal distribution."""
        return p_of_sign_flips(self.values) if len(self.values) > 1 else 1.0


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
    counted = [finals for arms in searches for finals in _distinct(arms)]
    return Measured(
        values=tuple(ground.values(both)),
        effect=ground.effect(both),
        nodes=_over_nodes(searches, ground, has_cross=has_cross),
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


def _over_nodes(searches: Sequence[Arms], ground: Ground, *, has_cross: bool) -> Effect | None:
    """The second scope, of one search."""
    if ground.over_searches or ground.protocol.units == "seed" or searches[0].unused:
        return None
    names = ARMS if has_cross else ARMS[:2]
    answers = [_answers(getattr(searches[0], name), ground.protocol) for name in names]
    splits = []
    for unit in answers[0]:
        if all(unit in own for own in answers):
            found = _of_split([own[unit] for own in answers])
            if found is None:
                return None
            splits.append(found)
    return over_nodes(splits) if len(splits) > 1 else None


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
