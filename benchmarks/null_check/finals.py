"""Numbers of finals by Stein's rule, and trainings that collapse."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_check.tables import Measured, Row
from clar_tune.analysis.scopes import over_splits, over_splits_of_stein, p_of_sign_flips
from clar_tune.analysis.statistics import LEVEL
from clar_tune.precision import Precision, finals_of_graph

RULE = Precision(half_width=0.004, at_least=20, at_most=100)
DEVIATIONS = (0.005, 0.01, 0.015, 0.02, 0.03, 0.05)
GAIN = 0.01
TEXAS_TESTED = 37
COUNTS = (10, 20, 50)
DEPTH, SPREAD = 0.4, 0.01
"""How far a collapsed training falls, and the spread of those that do not."""
CHANCES = ((0.05, 0.05), (0.1, 0.1), (0.25, 0.25), (0.05, 0.0), (0.1, 0.0), (0.25, 0.0))
"""How often the first and the second arm collapse."""


def stein_rows(draws: int, seed: int) -> Iterator[Row]:
    """Coverage where the spread of the first 20 finals decides on how many there are."""
    for kind in ("normal", "of 37 nodes", "largest of 3"):
        for deviation in DEVIATIONS:
            covered, counts, widths = stein(kind, deviation, draws, seed)
            yield {
                "differences": f"{kind:>12}",
                "sd, points": f"{100 * deviation:g}",
                "covered, %": Measured.over(covered),
                "finals": f"{np.mean(counts):.1f}",
                "at the cap, %": f"{100 * np.mean(np.array(counts) == RULE.at_most):.0f}",
                "half width": f"{100 * np.mean(widths):.2f}",
            }


def stein(
    kind: str, deviation: float, draws: int, seed: int
) -> tuple[list[bool], list[int], list[float]]:
    """Whether each interval covers, how many finals it took, and half its width.

    ``largest of 3``: another two effects of the graph, correlated with the first, may ask for
    more finals than it does.
    """
    draw = np.random.default_rng(seed)
    covered, counts, widths = [], [], []
    for _ in range(draws):
        effects = draw.normal(size=(3 if kind == "largest of 3" else 1, RULE.at_most))
        effects[1:] = (effects[1:] + effects[0]) * np.sqrt(0.5)
        effects = GAIN + deviation * effects
        if kind == "of 37 nodes":
            effects = np.rint(TEXAS_TESTED * effects + draw.uniform(-0.5, 0.5, effects.shape))
            effects /= TEXAS_TESTED
        count = finals_of_graph([one[: RULE.at_least] for one in effects], RULE)
        found = over_splits_of_stein(effects[0, :count], RULE.at_least)
        covered.append(abs(found.mean - GAIN) <= found.half_width())
        counts.append(count)
        widths.append(found.half_width())
    return covered, counts, widths


def collapse_rows(draws: int, seed: int) -> Iterator[Row]:
    """Claims at 5 % where trainings collapse; the truth is 0 where both arms do alike."""
    for count in COUNTS:
        for first, second in CHANCES:
            d = mixtures(first, second, count, draws, seed)
            effects = [over_splits(one) for one in d]
            by_t = np.array([one.p_difference < LEVEL for one in effects])
            by_flips = np.array([p_of_sign_flips(one) < LEVEL for one in d])
            truth = DEPTH * (first - second)
            missed = [abs(one.mean - truth) > one.half_width() for one in effects]
            yield {
                "finals": count,
                "collapse, %": f"{100 * first:>4g} and {100 * second:>2g}",
                "truth": f"{100 * truth:.1f}",
                "missed by t": Measured.over(missed),
                "claims, t": Measured.over(by_t),
                "claims, flips": Measured.over(by_flips),
                "claims, both": Measured.over(by_t & by_flips),
            }


def mixtures(
    first: float, second: float, count: int, draws: int, seed: int
) -> NDArray[np.float64]:
    """Second arm minus first [draws, J], of arms that collapse with these chances."""
    draw = np.random.default_rng(seed)
    fallen = [draw.random((draws, count)) < chance for chance in (first, second)]
    d = draw.normal(0, SPREAD, size=(draws, count))
    found: NDArray[np.float64] = d + DEPTH * (1.0 * fallen[0] - fallen[1])
    return found
