r"""How far effects differ between two runs with other splits.

.. math:: \Delta = d(\theta_1, \text{splits}_1) - d(\theta_2, \text{splits}_2)

Where the configurations are the same, :math:`\theta_1 = \theta_2`, only splits differ: training
nodes, and test nodes too. It is no share of the first effect: it is larger than that wherever the
second is below 0.
"""

import math
from collections.abc import Sequence

from scipy import special

from clar_tune.analysis.effect_records import PenaltyEffect, ShiftPart
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.statistics import LEVEL


def shift_part_of(one: Comparison, other: Comparison) -> list[ShiftPart]:
    """How much larger each effect is in the first: of cells with a penalty in use in both."""
    known = {_place(effect): effect for effect in other.effects if _is_measured(effect)}
    metrics = {(row.graph, row.condition): row.metric for row in one.rows}
    return [
        _part(effect, known[_place(effect)], metrics[effect.graph, effect.condition])
        for effect in one.effects
        if _is_measured(effect) and _place(effect) in known
    ]


def _is_measured(effect: PenaltyEffect) -> bool:
    return effect.error is not None and effect.verdict != "unused"


def _place(effect: PenaltyEffect) -> tuple[str, str, str]:
    return effect.graph, effect.condition, effect.method


def _part(one: PenaltyEffect, other: PenaltyEffect, metric: str) -> ShiftPart:
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
        verdicts=(one.verdict, other.verdict),
        same=one.configuration == other.configuration,
        metric=metric,
    )


def _welch(errors: Sequence[tuple[float, int]]) -> float:
    total = sum(error**2 for error, _ in errors)
    parts = sum(error**4 / freedom for error, freedom in errors if error)
    if not parts:
        return 0.0
    return -float(special.stdtrit(total**2 / parts, LEVEL / 2)) * math.sqrt(total)
