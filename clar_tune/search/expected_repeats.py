"""How many repeats a pruned search will have, if its scores are pure chance."""

import random
from bisect import insort
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from statistics import fmean

from clar_tune.rows import rungs_up_to

SIMULATIONS = 20

SIMULATED = 300
"""Most trials that are simulated: from there on the share that passes a rung hardly changes."""


@cache
def expected_repeats(trials: int, repeats: int, reduction: int) -> float:
    r"""Repeats of all trials together, under the rule of successive halving.

    A trial goes on from a rung if its score is not below the best 1/r of those recorded there
    before. Of many trials :math:`r^{-k}` pass k rungs: one has
    :math:`R_1 + \sum_k r^{-k} (R_{k+1} - R_k)` repeats on average, R being the rungs.
    """
    rungs, draw = rungs_up_to(repeats, reduction), random.Random(0)
    first = min(trials, SIMULATED)
    spent = fmean(simulated_repeats(first, rungs, reduction, draw) for _ in range(SIMULATIONS))
    each = rungs[0] + sum(
        (after - before) / reduction**passed
        for passed, (before, after) in enumerate(pairwise(rungs), start=1)
    )
    return float(spent + (trials - first) * each)


def simulated_repeats(
    trials: int, rungs: Sequence[int], reduction: int, draw: random.Random
) -> int:
    """Repeats of one search whose trials come one after the other, each with its quality."""
    recorded: list[list[float]] = [[] for _ in rungs]
    total = trials * rungs[0]
    for _ in range(trials):
        quality = draw.random()
        for (rung, following), seen in zip(pairwise(rungs), recorded, strict=False):
            passes = not seen or quality >= _quantile(seen, 1 - 1 / reduction)
            insort(seen, quality)
            if not passes:
                break
            total += following - rung
    return total


def _quantile(ordered: Sequence[float], share: float) -> float:
    """As numpy has it: straight between the two nearest."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
