"""Intervals and tests for scores over splits, correlations, and methods over graphs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from clar_tune.errors import ParameterError
from clar_tune.precision import LEVEL as LEVEL, POWER as POWER

ENOUGH_UNITS = 5
"""Fewer splits or seeds than this allow no verdict."""
ENOUGH_SEARCHES = 10
"""Fewer repeated searches allow no verdict on one tuned gain."""
ENOUGH_SEARCHES_OVER_GRAPHS = 5
"""Fewer allow none on its mean over graphs."""
ENOUGH_GRAPHS = 8
"""Fewer distinct graphs allow no test across them: five cannot go below p = 0.06."""
ROUNDING = 1e-9
"""Values that differ by a smaller part of them are equal: the rest is lost digits."""
RESAMPLES = 2000
"""Draws of the bootstrap; they begin with the same seed, so equal scores get equal intervals."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, half the width of its 95 % interval, and the test that it is zero."""

    mean: float
    half_width: float | None
    p: float | None
    detectable: float | None
    """Smallest true mean that the test finds with probability 0.8."""
    units: int


def estimate(
    values: ArrayLike, test_share: float = 0.0, *, within: float | None = None, tests: int = 1
) -> Estimate:
    r"""Student's interval and test, corrected for splits that share nodes (Nadeau-Bengio).

    .. math:: \bar d \pm t_{J-1} \sqrt{s^2 / J + s_w^2\, n_\mathrm{test} / n_\mathrm{train}}

    ``test_share`` is :math:`n_\mathrm{test} / n_\mathrm{train}`; with 0 it is the plain t-test.
    ``within`` is the variance :math:`s_w^2` over single splits where values are means over
    several of them, else :math:`s^2`. The detectable mean is that of the first step of Holm's
    correction for a number of ``tests``, whose level is :math:`0.05 / tests`.

    A single value has neither interval nor test, nor have equal values that are not 0: their
    spread, which a test weighs them against, is not known.
    """
    d = np.asarray(values, dtype=float)
    if not d.size or not np.all(np.isfinite(d)):
        raise ParameterError(f"scores must be finite numbers, at least one, got {d.tolist()}.")
    units, mean = len(d), float(np.mean(d))
    if not np.any(d) and units > 1:
        return Estimate(mean, 0.0, 1.0, None, units)
    if np.ptp(d) <= ROUNDING * np.max(np.abs(d)):  # one value, too
        return Estimate(mean, None, None, None, units)
    freedom, variance = units - 1, float(np.var(d, ddof=1))
    shared = test_share * (variance if within is None else within)
    error = float(np.sqrt(variance / units + shared))
    limit, first = (float(stats.t.isf(a / 2, freedom)) for a in (LEVEL, LEVEL / tests))
    # In standard errors: at this shift a noncentral t exceeds the limit with the power asked for.
    shift = float(special.nctdtrinc(freedom, 1 - POWER, first))
    p = 2 * float(stats.t.sf(abs(mean) / error, freedom))
    return Estimate(mean, limit * error, p, shift * error, units)


def estimate_of_means(
    groups: Sequence[Sequence[float]], test_share: float = 0.0, *, tests: int = 1
) -> Estimate:
    """The same over the means of groups; values within a group stem from single splits."""
    means = [float(np.mean(group)) for group in groups]
    return estimate(means, test_share, within=variance_within(groups), tests=tests)


def variance_within(groups: Sequence[Sequence[float]]) -> float | None:
    """The variance of values about the mean of their group, pooled; none for single values."""
    spreads = [(len(group) - 1, np.var(group, ddof=1)) for group in groups if len(group) > 1]
    freedom = sum(own for own, _ in spreads)
    total = float(sum(own * variance for own, variance in spreads))
    return total / freedom if freedom else None


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation coefficient and the ends of its 95 % interval."""

    value: float
    low: float | None
    high: float | None
    pairs: int
    """Pairs of numbers that it is taken over."""


def spearman(x: ArrayLike, scores: ArrayLike) -> Coefficient | None:
    r"""Spearman's coefficient of values [V] and scores [J, V] of J finals under each of them.

    It is taken over all J V pairs of a value and a score. Scores of one final belong together,
    so the bootstrap draws whole finals. With few of them the quantiles of its draws are too
    narrow; their deviation :math:`s_z` on Fisher's scale is used instead:

    .. math:: \tanh\left(\operatorname{artanh} r \pm t_{J-1}\, s_z \sqrt{J / (J-1)}\right)

    There is none if all values or all scores are equal, and no interval for one final.
    """
    values, table = np.asarray(x, dtype=float), np.asarray(scores, dtype=float)
    finals = len(table)
    found = _rank_correlations(values, table[None])
    if np.isnan(found[0]):
        return None
    value, low, high = float(found[0]), None, None
    if finals > 1:
        chosen = np.random.default_rng(0).integers(finals, size=(RESAMPLES, finals))
        draws = _rank_correlations(values, table[chosen])  # [RESAMPLES]
        deviation = float(np.std(_fisher(draws[~np.isnan(draws)]), ddof=1))
        error = deviation * float(np.sqrt(finals / (finals - 1)))
        low, high = _around(value, float(stats.t.ppf(1 - LEVEL / 2, finals - 1)) * error)
    return Coefficient(value, low, high, table.size)


def pearson(x: ArrayLike, y: ArrayLike) -> Coefficient | None:
    r"""Pearson's coefficient of n pairs, with Fisher's interval.

    .. math:: \tanh(\operatorname{artanh} r \pm z_{0.975} / \sqrt{n - 3})

    There is none if all x or all y are equal, and no interval for fewer than four pairs.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    value = float(np.clip(np.corrcoef(first, second)[0, 1], -1, 1))
    low, high = None, None
    if len(first) > 3:
        low, high = _around(value, float(stats.norm.ppf(1 - LEVEL / 2) / np.sqrt(len(first) - 3)))
    return Coefficient(value, low, high, len(first))


def holm(p: Sequence[float], family: int | None = None) -> list[float]:
    """Holm's correction; planned comparisons without a result count as p = 1."""
    missing = max(0, (family or len(p)) - len(p))
    given = np.array([*p, *[1.0] * missing])
    order = np.argsort(given)
    corrected = np.empty_like(given)
    factors = np.arange(len(given), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1)
    return [float(value) for value in corrected[: len(p)]]


def settled(scores: ArrayLike) -> NDArray[np.float64]:
    """Scores to twelve digits: equal ones tie, whatever the order in which they were summed."""
    given = np.asarray(scores, dtype=float)
    return np.array([float(f"{score:.12g}") for score in given.flat]).reshape(given.shape)


def average_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average rank of each column over the rows; 1 is the highest score, ties share."""
    ranks: NDArray[np.float64] = np.mean(stats.rankdata(-settled(scores), axis=1), axis=0)
    return ranks


def friedman(scores: NDArray[np.float64]) -> float:
    r"""The p of Friedman's test in the form of Iman and Davenport; graphs x methods.

    .. math:: F = \frac{(N-1)\chi^2}{N(k-1) - \chi^2} \sim F_{k-1,\,(k-1)(N-1)}

    with :math:`\chi^2` corrected for ties. It needs three methods.
    """
    graphs, methods = scores.shape
    table = settled(scores)
    if np.all(table == table[:, :1]):
        return 1.0  # no method differs from another on any graph
    chi = float(stats.friedmanchisquare(*table.T).statistic)
    room = graphs * (methods - 1) - chi
    if room <= 0:
        return 0.0  # the same order on every graph
    ratio = (graphs - 1) * chi / room
    return float(stats.f.sf(ratio, methods - 1, (methods - 1) * (graphs - 1)))


def signed_ranks(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The p of Wilcoxon's signed-rank test between two methods over graphs; zeros are split."""
    difference = _differences(first, second)
    if not np.any(difference):
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit").pvalue)


def signed_rank_sum(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Positive where the signed ranks speak for the first method, negative for the second."""
    difference = _differences(first, second)
    return float(np.sum(np.sign(difference) * stats.rankdata(np.abs(difference))))


def least_p(graphs: int) -> float:
    """Smallest p that signed ranks can give: every graph has the same winner."""
    return float(2.0 ** (1 - graphs))


def _differences(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.round(first - second, 12)  # 0.3 - 0.2 ties with 0.2 - 0.1
    return found


def _rank_correlations(x: NDArray[np.float64], tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's coefficient of each table [J, V] with x [V]; not a number where all are equal."""
    count, finals, _ = tables.shape
    first = stats.rankdata(np.tile(x, finals))
    second = stats.rankdata(tables.reshape(count, -1), axis=1)
    first = first - first.mean()
    second = second - second.mean(axis=1, keepdims=True)
    norm = np.sqrt(np.sum(first**2) * np.sum(second**2, axis=1))
    found: NDArray[np.float64] = np.full(count, np.nan)
    np.divide(second @ first, norm, out=found, where=norm > 0)
    return found


def _fisher(coefficient: ArrayLike) -> NDArray[np.float64]:
    """Fisher's scale; a perfect correlation stays finite."""
    found: NDArray[np.float64] = np.arctanh(np.clip(coefficient, -1 + 1e-9, 1 - 1e-9))
    return found


def _around(value: float, half: float) -> tuple[float, float]:
    """The interval around a coefficient whose half is given on Fisher's scale."""
    middle = float(_fisher(value))
    return float(np.tanh(middle - half)), float(np.tanh(middle + half))
