"""What a mean of paired differences says of other splits, and of other nodes.

Two scopes, two standard errors of one mean. *This graph, new splits*: the graph is given, splits
are drawn at random. *These nodes as a sample*: had the nodes been drawn anew from their source.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from clar_tune.analysis.statistics import LEVEL, POWER, ROUNDING
from clar_tune.errors import ParameterError

FLIPS = 9999
"""Draws of the sign-flip test; they begin with the same seed, so that equal data get equal p."""
COUNTED_FLIPS = 13
"""Up to so many differences all sign flips are counted."""


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
        return float(stats.t.isf(level / 2, self.freedom)) * self.error

    @property
    def p_difference(self) -> float:
        r"""Two-sided test that the true mean is 0: :math:`2 P(T > |d| / e)`."""
        if not self.error:
            return 1.0
        return 2 * float(stats.t.sf(abs(self.mean) / self.error, self.freedom))

    def p_equal(self, margin: float) -> float:
        r"""The larger p of two one-sided tests: of :math:`\mu \le -m` and of :math:`\mu \ge m`."""
        if not self.error:
            return 0.0 if abs(self.mean) < margin else 1.0
        return float(stats.t.sf((margin - abs(self.mean)) / self.error, self.freedom))

    def detectable(self, tests: int = 1) -> float | None:
        """Smallest true mean found with 80 % power at Holm's first step of so many tests."""
        if not self.error:
            return None
        limit = float(stats.t.isf(LEVEL / tests / 2, self.freedom))
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


class SplitDifferences(NamedTuple):
    """The test nodes of one split, and the difference at each of them, averaged over seeds."""

    nodes: NDArray[np.int64]
    values: NDArray[np.float64]


def over_nodes(splits: Sequence[SplitDifferences]) -> Effect:
    r"""These nodes as a sample: the mean over J splits with errors that both share.

    With :math:`w_{ij} = 1 / (J n_j)` for node i tested in split j, and
    :math:`e_{ij} = w_{ij} (x_{ij} - d)`,

    .. math::
        V_s = \tfrac{J}{J-1} \sum_j \Big(\sum_i e_{ij}\Big)^2, \quad
        V_n = \tfrac{n}{n-1} \sum_i \Big(\sum_j e_{ij}\Big)^2, \quad
        V_b = \sum_{ij} e_{ij}^2

    and :math:`V = \max(V_s + V_n - V_b, V_s, V_n)`, n being the nodes tested at least once.
    """
    if len(splits) < 2:
        raise ParameterError(f"an effect over nodes needs two splits, got {len(splits)}.")
    count = len(splits)
    d = float(np.mean([split.values.mean() for split in splits]))
    nodes, place = np.unique(np.concatenate([s.nodes for s in splits]), return_inverse=True)
    errors = [(s.values - d) / (count * len(s.values)) for s in splits]
    flat = np.concatenate(errors)
    of_splits = count / (count - 1) * sum(float(e.sum()) ** 2 for e in errors)
    sums = np.bincount(place, weights=flat)
    of_nodes = len(nodes) / max(1, len(nodes) - 1) * float(np.sum(sums**2))
    both = float(np.sum(flat**2))
    variance = max(of_splits + of_nodes - both, of_splits, of_nodes)
    scale = max(float(np.max(np.abs(s.values))) for s in splits)
    error = 0.0 if math.sqrt(variance) <= ROUNDING * scale else math.sqrt(variance)
    return Effect(d, error, count - 1)


def p_of_sign_flips(differences: ArrayLike) -> float:
    """Share of sign flips of the differences whose mean is at least as far from 0.

    It assumes symmetry about 0 instead of a normal distribution, which trainings that collapse
    do not have.
    """
    d = _checked(differences)
    reached = abs(d.sum()) * (1 - ROUNDING)
    if len(d) <= COUNTED_FLIPS:
        bits = np.arange(2 ** (len(d) - 1))[:, None] >> np.arange(len(d)) & 1
        return float(np.mean(np.abs((1 - 2 * bits) @ d) >= reached))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(FLIPS, len(d)))
    return float((1 + np.sum(np.abs(signs @ d) >= reached)) / (1 + FLIPS))


def collapsed(scores: ArrayLike, drop: float = 0.25) -> int:
    """How many scores lie more than 25 points below their median."""
    found = np.asarray(scores, dtype=float)
    return int(np.sum(found < np.median(found) - drop))


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
