"""Intervals and tests for scores over splits, and for methods over graphs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from clar_tune.errors import ParameterError

LEVEL = 0.05
POWER = 0.8
ENOUGH_UNITS = 5
"""Fewer splits or seeds than this allow no verdict."""
ENOUGH_GRAPHS = 8
"""Fewer distinct graphs allow no test across them: five cannot go below p = 0.06."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, half the width of its 95 % interval, and the test that it is zero."""

    mean: float
    half: float | None
    p: float | None
    detectable: float | None
    """Smallest true mean that the test at 5 % finds with probability 0.8."""
    units: int


def estimate(values: ArrayLike, test_share: float = 0.0) -> Estimate:
    r"""Student's interval and test, corrected for splits that share nodes (Nadeau-Bengio).

    .. math:: \bar d \pm t_{J-1} \sqrt{(1/J + n_\mathrm{test} / n_\mathrm{train})\, s^2}

    ``test_share`` is :math:`n_\mathrm{test} / n_\mathrm{train}`; with 0 it is the plain t-test.
    A single value has neither interval nor test.
    """
    d = np.asarray(values, dtype=float)
    if not d.size or not np.all(np.isfinite(d)):
        raise ParameterError(f"scores must be finite numbers, at least one, got {d.tolist()}.")
    units, mean = len(d), float(np.mean(d))
    if units < 2:
        return Estimate(mean, None, None, None, units)
    if np.all(d == d[0]):  # asked here, because rounding can give equal values a variance
        return Estimate(mean, 0.0, 0.0 if d[0] else 1.0, 0.0, units)
    freedom = units - 1
    error = float(np.sqrt((1 / units + test_share) * np.var(d, ddof=1)))
    limit = float(stats.t.ppf(1 - LEVEL / 2, freedom))
    # In standard errors: at this shift a noncentral t exceeds the limit with the power asked for.
    shift = float(special.nctdtrinc(freedom, 1 - POWER, limit))
    p = 2 * float(stats.t.sf(abs(mean) / error, freedom))
    return Estimate(mean, limit * error, p, shift * error, units)


def holm(p: Sequence[float], family: int | None = None) -> list[float]:
    """Holm's correction; planned comparisons without a result count as p = 1."""
    if not p:
        return []
    from statsmodels.stats.multitest import multipletests  # slow to load

    missing = max(0, (family or len(p)) - len(p))
    corrected = multipletests([*p, *[1.0] * missing], method="holm")[1]
    return [float(value) for value in corrected[: len(p)]]


def average_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average rank of each column over the rows; 1 is the highest score, ties share."""
    ranks: NDArray[np.float64] = np.mean(stats.rankdata(-scores, axis=1), axis=0)
    return ranks


def friedman(scores: NDArray[np.float64]) -> float:
    r"""The p of Friedman's test in the form of Iman and Davenport; graphs x methods.

    .. math:: F = \frac{(N-1)\chi^2}{N(k-1) - \chi^2} \sim F_{k-1,\,(k-1)(N-1)}

    with :math:`\chi^2` corrected for ties. It needs three methods.
    """
    graphs, methods = scores.shape
    if np.all(scores == scores[:, :1]):
        return 1.0  # no method differs from another on any graph
    chi = float(stats.friedmanchisquare(*scores.T).statistic)
    room = graphs * (methods - 1) - chi
    if room <= 0:
        return 0.0  # the same order on every graph
    ratio = (graphs - 1) * chi / room
    return float(stats.f.sf(ratio, methods - 1, (methods - 1) * (graphs - 1)))


def signed_ranks(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The p of Wilcoxon's signed-rank test between two methods over graphs; zeros are split."""
    difference = np.round(first - second, 12)  # so that 0.3 - 0.2 ties with 0.2 - 0.1
    if not np.any(difference):
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)


def least_p(graphs: int) -> float:
    """Smallest p that signed ranks can give: every graph has the same winner."""
    return float(2.0 ** (1 - graphs))
