"""The part of an effect that comes with the splits: two runs that differ in them alone."""

import math
from collections.abc import Sequence

from scipy import special

from clar_tune.analysis.effect_records import PenaltyEffect, ShiftPart
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.statistics import LEVEL


def shift_part_of(one: Comparison, other: Comparison) -> list[ShiftPart]:
    """Of every effect that both have: how much larger it is in the first, cell by cell."""
    known = {_place(effect): effect for effect in other.effects if effect.error is not None}
    return [
        _part(effect, known[_place(effect)])
        for effect in one.effects
        if effect.error is not None and _place(effect) in known
    ]


def _place(effect: PenaltyEffect) -> tuple[str, str, str]:
    return effect.graph, effect.condition, effect.method


def _part(one: PenaltyEffect, other: PenaltyEffect) -> ShiftPart:
    r"""Welch's interval of the difference.

    .. math:: d_1 - d_2 \pm t_\nu \sqrt{e_1^2 + e_2^2}, \quad
        \nu = \frac{(e_1^2 + e_2^2)^2}{e_1^4 / \nu_1 + e_2^4 / \nu_2}
    """
    first, second = one.effect or 0.0, other.effect or 0.0
    return ShiftPart(
        graph=one.graph,
        condition=one.condition,
        method=one.method,
        one=first,
        other=second,
        difference=first - second,
        half=_welch([(effect.error or 0.0, effect.freedom) for effect in (one, other)]),
        protocols=(one.protocol, other.protocol),
    )


def _welch(errors: Sequence[tuple[float, int]]) -> float:
    total = sum(error**2 for error, _ in errors)
    parts = sum(error**4 / freedom for error, freedom in errors if error)
    if not parts:
        return 0.0
    return -float(special.stdtrit(total**2 / parts, LEVEL / 2)) * math.sqrt(total)
