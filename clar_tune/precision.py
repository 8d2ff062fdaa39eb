"""How many finals an effect needs: for an interval of a given width, or for a verdict."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike

from clar_tune.errors import ParameterError
from clar_tune.records import stored_as

LEVEL = 0.05
"""Of every test and interval."""
POWER = 0.8
"""With which an effect is to be found."""

MOST = 10_000
"""More finals than this are no advice."""


Scores = Mapping[int, float]
"""Test scores of finals by their numbers."""


@stored_as("half_width", "at_least", "at_most")
@dataclass(frozen=True, slots=True)
class Precision:
    """Finals until the interval of every primary effect is narrow enough.

    The width is in the units of scores, a space writes it in points.
    """

    half_width: float
    at_least: int
    at_most: int

    def __post_init__(self) -> None:
        if not 0 < self.half_width < math.inf or not 2 <= self.at_least <= self.at_most:
            raise ParameterError(
                f"finals: half_width {self.half_width:g}, at_least {self.at_least}, at_most "
                f"{self.at_most}: choose a width above 0, and 2 <= at_least <= at_most."
            )


def finals_of_stein(first: ArrayLike, rule: Precision) -> int:
    r"""How many finals one effect needs, told by the spread of its first n (Stein's rule).

    .. math:: J = \lceil (t_{n-1,\,0.975}\, s_n / h)^2 \rceil

    between ``at_least`` and ``at_most``.
    """
    d = np.asarray(first, dtype=float)
    if len(d) != rule.at_least:
        raise ParameterError(f"Stein's rule needs {rule.at_least} differences, got {len(d)}.")
    limit = _limit(LEVEL / 2, len(d) - 1)
    needed = math.ceil((limit * float(np.std(d, ddof=1)) / rule.half_width) ** 2)
    return min(max(needed, rule.at_least), rule.at_most)


def finals_of_graph(effects: Sequence[ArrayLike], rule: Precision) -> int:
    """The largest of its primary effects' numbers, which all methods of a graph get."""
    return max((finals_of_stein(first, rule) for first in effects), default=rule.at_least)


def first_effects(arms: Mapping[str, Scores], plain: Scores, count: int) -> list[float] | None:
    r"""The effect of a penalty in each of the first finals; none while one of them is missing.

    .. math:: d = \tfrac12 ((\text{on} - \text{off}) + (\text{cross} - \text{plain}))

    on the same pair. A winner that no plain one is crossed with has no arm ``cross``: its effect
    is on - off, as in what is printed.
    """
    halves = [(arms.get("on", {}), arms.get("off", {}))]
    halves += [(arms["cross"], plain)] if "cross" in arms else []
    if any(n not in scores for half in halves for scores in half for n in range(count)):
        return None
    return [fmean(one[n] - other[n] for one, other in halves) for n in range(count)]


def finals_to_decide(deviation: float, margin: float, tests: int) -> int | None:
    """About how many finals decide an effect.

    From the spread and the margin, never from the observed mean: with so many, equality is found
    with 80 % power where the true effect is 0, at Holm's first step, and a difference where it is
    as large as the margin; one between both may stay undecided. None if that takes too many.
    """
    level = LEVEL / tests
    for count in range(2, 200):
        if _enough(count, deviation, margin, level):
            return count
    count = 200
    while not _enough(count, deviation, margin, level):
        count = math.ceil(count * 1.05)
        if count > MOST:
            return None
    return count


def _enough(count: int, deviation: float, margin: float, level: float) -> bool:
    """Whether the interval at this level, and the wish for power, fit within the margin."""
    error, freedom = deviation / math.sqrt(count), count - 1
    equality = _limit(level, freedom) + _limit((1 - POWER) / 2, freedom)
    difference = _limit(level / 2, freedom) + _limit(1 - POWER, freedom)
    return bool(max(equality, difference) * error <= margin)


def _limit(level: float, freedom: int) -> float:
    """What Student's t exceeds with this probability."""
    from scipy import special  # here: who only shows a run needs none of it

    return -float(special.stdtrit(freedom, level))
