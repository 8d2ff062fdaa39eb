"""What a mean of paired differences says of other splits, and of other nodes.

Two scopes, two standard errors of one mean. *This graph, new splits*: the graph is given, splits
are drawn at random. *These nodes as a sample*: had the nodes been drawn anew from their source.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from clar_tune.analysis.statistics import LEVEL, POWER, ROUNDING, variance_within
from clar_tune.errors import ParameterError

FLIPS = 9999
"""Draws of the sign-flip test; they begin with the same seed, so that equal data get equal p."""
COUNTED_FLIPS = 13
"""Up to so many differences all sign flips are counted."""

ROLES = 1.5
"""By how much a node counts beyond its being tested: it also trains in other splits, and it
resembles its neighbours. Without it intervals over nodes miss the truth in up to 12 of 100 samples
(``benchmarks/null_check``, parts ``nodes`` and ``blocks``); with it in at most 6."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A mean difference with its standard error; a positive one is an improvement."""

    mean: float
    error: float
    """Standard error; 0 where the differences have no spread."""
    freedom: int
    """Degrees of freedom of Student's t."""

    def half_width(self, level: float = LEVEL) -> float:
        """Half the width of the interval, at 95 % by default."""
        return -float(special.stdtrit(self.freedom, level / 2)) * self.error

    @property
    def p_difference(self) -> float:
        r"""Two-sided test that the true mean is 0: :math:`2 P(T > |d| / e)`."""
        if not self.error:
            return 1.0
        return 2 * float(special.stdtr(self.freedom, -abs(self.mean) / self.error))

    def p_equal(self, margin: float) -> float:
        r"""The larger p of two one-sided tests: of :math:`\mu \le -m` and of :math:`\mu \ge m`."""
        if not self.error:
            return 0.0 if abs(self.mean) < margin else 1.0
        return float(special.stdtr(self.freedom, (abs(self.mean) - margin) / self.error))

    def detectable(self, tests: int = 1) -> float | None:
        """Smallest true mean found with 80 % power at Holm's first step of so many tests."""
        if not self.error:
            return None
        limit = -float(special.stdtrit(self.freedom, LEVEL / tests / 2))
        shift = float(special.nctdtrinc(self.freedom, 1 - POWER, limit))
        return shift * self.error


def over_splits(differences: ArrayLike) -> Effect:
    r"""This graph, new splits: the paired t over J splits.

    .. math:: \bar d \pm t_{J-1}\, s / \sqrt J
    """
    d = _checked(differences)
    return Effect(float(d.mean()), _deviation(d) / math.sqrt(len(d)), len(d) - 1)


def over_splits_of_stein(differences: ArrayLike, first: int) -> Effect:
    r"""The same where the spread of the first n splits decided how many there are (Stein).

    .. math:: \bar d \pm t_{n-1}\, s_n / \sqrt J
    """
    d = _checked(differences)
    if not 2 <= first <= len(d):
        raise ParameterError(f"Stein's rule needs 2 to {len(d)} first differences, got {first}.")
    return Effect(float(d.mean()), _deviation(d[:first]) / math.sqrt(len(d)), first - 1)


def over_new_data(
    differences: ArrayLike, test_share: float, groups: Sequence[Sequence[float]] = ()
) -> Effect:
    r"""The same for new data, whose splits share no nodes (Nadeau and Bengio).

    .. math:: \bar d \pm t_{J-1} \sqrt{s^2 / J + s_w^2\, n_\mathrm{test} / n_\mathrm{train}}

    :math:`s_w^2` is the variance over single splits, pooled over ``groups`` where differences are
    their means, else :math:`s^2`.
    """
    d = _checked(differences)
    spread = _deviation(d) ** 2
    within = variance_within(groups) if groups else spread
    error = math.sqrt(spread / len(d) + test_share * (spread if within is None else within))
    return Effect(float(d.mean()), error if spread else 0.0, len(d) - 1)


class SplitDifferences(NamedTuple):
    """The test nodes of one split, and the difference at each of them, averaged over seeds."""

    nodes: NDArray[np.int64]
    values: NDArray[np.float64]


def over_nodes(splits: Sequence[SplitDifferences], roles: float = ROLES) -> Effect:
    r"""These nodes as a sample: the mean over J splits with errors that both share.

    With :math:`w_{ij} = 1 / (J n_j)` for node i tested in split j, and
    :math:`e_{ij} = w_{ij} (x_{ij} - d)`,

    .. math::
        V_s = \tfrac{J}{J-1} \sum_j \Big(\sum_i e_{ij}\Big)^2, \quad
        V_n = r\, \tfrac{n}{n-1} \sum_i \Big(\sum_j e_{ij}\Big)^2, \quad
        V_b = \sum_{ij} e_{ij}^2

    and :math:`V = \max(V_s + V_n - V_b, V_s, V_n)`, n being the nodes tested at least once,
    r the factor ``ROLES``.
    """
    d, largest, of_splits, of_nodes, both = _variances(splits, roles)
    variance = max(of_splits + of_nodes - both, of_splits, of_nodes)
    error = math.sqrt(variance)
    return Effect(d, 0.0 if error <= ROUNDING * largest else error, len(splits) - 1)


def error_of_nodes(splits: Sequence[SplitDifferences], roles: float = ROLES) -> float:
    r""":math:`\sqrt{V_n}` of ``over_nodes``: what more splits of the same nodes do not lower."""
    return math.sqrt(_variances(splits, roles).of_nodes)


class _Variances(NamedTuple):
    """The mean, the largest difference, and the three parts of the variance."""

    mean: float
    largest: float
    of_splits: float
    of_nodes: float
    both: float


def _variances(splits: Sequence[SplitDifferences], roles: float) -> _Variances:
    if len(splits) < 2 or not all(len(split.nodes) for split in splits):
        given = [len(split.nodes) for split in splits]
        raise ParameterError(f"an effect over nodes needs two splits with nodes, got {given}.")
    count, sizes = len(splits), np.array([len(split.nodes) for split in splits])
    nodes, x = (np.concatenate(parts) for parts in zip(*splits, strict=True))
    starts = np.cumsum(sizes) - sizes
    d = float(np.mean(np.add.reduceat(x, starts) / sizes))
    flat = (x - d) / np.repeat(count * sizes, sizes)
    of_splits = count / (count - 1) * float(np.sum(np.add.reduceat(flat, starts) ** 2))
    tested = int(np.count_nonzero(np.bincount(nodes)))
    sums = np.bincount(nodes, weights=flat)
    of_nodes = roles * tested / max(1, tested - 1) * float(np.sum(sums**2))
    both = float(np.sum(flat**2))
    return _Variances(d, float(np.max(np.abs(x))), of_splits, of_nodes, both)


def p_of_sign_flips(differences: ArrayLike) -> float:
    """Share of sign flips of the differences whose mean is at least as far from 0.

    It assumes symmetry about 0 instead of a normal distribution, which trainings that collapse
    do not have.
    """
    d = _checked(differences)
    reached = abs(d.sum()) - ROUNDING * np.abs(d).sum()  # sums that tie but for lost digits
    if len(d) <= COUNTED_FLIPS:
        bits = np.arange(2 ** (len(d) - 1))[:, None] >> np.arange(len(d)) & 1
        return float(np.mean(np.abs((1 - 2 * bits) @ d) >= reached))
    return float((1 + np.sum(np.abs(_signs(len(d)) @ d) >= reached)) / (1 + FLIPS))


def collapsed(scores: ArrayLike, drop: float = 0.25) -> int:
    """How many scores lie more than 25 points below their median."""
    found = np.asarray(scores, dtype=float)
    return int(np.sum(found < np.median(found) - drop))


@lru_cache(maxsize=4)
def _signs(count: int) -> NDArray[np.float64]:
    """Random signs, [FLIPS, count]; the same ones each time."""
    return np.random.default_rng(0).choice([-1.0, 1.0], size=(FLIPS, count))


def _checked(differences: ArrayLike) -> NDArray[np.float64]:
    d = np.asarray(differences, dtype=float)
    if len(d) < 2 or not np.all(np.isfinite(d)):
        raise ParameterError(f"differences must be finite, two at least, got {d.tolist()}.")
    return d


def _deviation(d: NDArray[np.float64]) -> float:
    """Standard deviation; what is lost digits counts as none."""
    if np.ptp(d) <= ROUNDING * float(np.max(np.abs(d))):
        return 0.0
    return float(np.std(d, ddof=1))
