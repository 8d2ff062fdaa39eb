"""What is known of a difference before its family is judged: tests, floors and collapses."""

from collections.abc import Sequence
from typing import NamedTuple

from clar_tune.analysis.effects import above_floor, collapses
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.scopes import Effect, p_of_sign_flips
from clar_tune.analysis.verdicts import Finding


class Sides(NamedTuple):
    """What both sides of a difference are on their own."""

    above: bool | None
    """Whether the first beats a constant answer; none where nobody knows."""
    other_above: bool | None
    """The same of the one that it is compared with."""
    collapsed: int = 0
    """Finals of both that lie far below their median."""

    @property
    def beat_floor(self) -> bool:
        """Whether one of both does, or may."""
        return self.above is not False or self.other_above is not False


def sides_of(one: Sample, other: Sample) -> Sides:
    """Those of winners side by side."""
    finals = [[study.finals for study in sample.studies] for sample in (one, other)]
    return Sides(
        above=above_floor(finals[0], one.ground),
        other_above=above_floor(finals[1], other.ground),
        collapsed=sum(collapses(own) for searches in finals for own in searches),
    )


def finding_of(effect: Effect, values: Sequence[float], margin: float, sides: Sides) -> Finding:
    """Of the mean of ``values``, one for each unit.

    Only a side that is known to beat the floor can be better. Where trainings collapsed, p is the
    larger of that of the t-test and that of sign flips, and equality is not told.
    """
    p = effect.p_difference
    return Finding(
        mean=effect.mean,
        p_difference=max(p, p_of_sign_flips(values)) if sides.collapsed else p,
        p_equal=effect.p_equal(margin),
        no_spread=not effect.error,
        may_be_better=bool(sides.above),
        may_be_worse=bool(sides.other_above),
        beats_floor=sides.beat_floor,
        may_be_equal=not sides.collapsed,
    )
