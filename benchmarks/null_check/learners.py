"""Finite samples of nodes, their splits, and noisy learners trained on every split at once.

A learner is a ridge classifier on features of its own; each training drops a few of them at
random, much as weights start at random. The nodes of a block model see the mean of their
neighbours' features.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Nodes = NDArray[np.int64]

CLASSES, FEATURES = 5, 20
SIGNAL = 0.3
"""How far apart the classes lie, in standard deviations of the noise."""
RIDGE = 1.0
CENTRES = np.random.default_rng(7).normal(size=(CLASSES, FEATURES)).astype(np.float32)


@dataclass(frozen=True)
class Sizes:
    """Training, validation and test nodes of every split of a sample."""

    name: str
    train: int
    val: int
    test: int

    @property
    def nodes(self) -> int:
        """Nodes of one sample."""
        return self.train + self.val + self.test


TEXAS = Sizes("texas", 110, 36, 37)
CHAMELEON = Sizes("chameleon", 1366, 455, 456)
CORA = Sizes("cora", 1625, 541, 542)


@dataclass(frozen=True)
class Splits:
    """Nodes that train, as masks [J, N], and nodes that are tested [J, n]."""

    train: Floats
    test: Nodes

    @staticmethod
    def drawn(sizes: Sizes, count: int, draw: np.random.Generator) -> "Splits":
        """Uniform splits of one sample, independent of each other."""
        order = draw.permuted(np.tile(np.arange(sizes.nodes), (count, 1)), axis=1)
        mask = np.zeros((count, sizes.nodes), dtype=np.float32)
        np.put_along_axis(mask, order[:, : sizes.train], 1, axis=1)
        return Splits(mask, order[:, -sizes.test :])


def features_of(labels: Nodes, signal: float, draw: np.random.Generator) -> Floats:
    """Features of one learner: the centre of the node's class, and noise."""
    noise = draw.standard_normal((len(labels), FEATURES), dtype=np.float32)
    return np.float32(signal) * CENTRES[labels] + noise


def correctness(
    x: Floats, labels: Nodes, splits: Splits, dropped: int, draw: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether each test node [J, n] is answered rightly, by a training on each split."""
    count, width = len(splits.test), x.shape[1]
    kept = np.ones((count, width), dtype=np.float32)
    if dropped:
        kept[draw.random(kept.shape).argsort(axis=1) < dropped] = 0
    y = np.eye(CLASSES, dtype=np.float32)[labels] - np.float32(1 / CLASSES)  # [N, c]
    products = x[:, :, None] * np.concatenate([x, y], axis=1)[:, None]  # [N, d, d + c]
    sums = (splits.train @ products.reshape(len(x), -1)).reshape(count, width, -1)  # [J, d, d + c]
    sums *= kept[:, :, None]
    gram = sums[:, :, :width] * kept[:, None] + RIDGE * np.eye(width, dtype=np.float32)
    weights = np.linalg.solve(gram, sums[:, :, width:])  # [J, d, c]
    answers = (x[splits.test] @ weights).argmax(axis=2)
    right: NDArray[np.bool_] = answers == labels[splits.test]
    return right


@dataclass(frozen=True)
class BlockModel:
    """A contextual stochastic block model, drawn again for every sample."""

    sizes: Sizes
    degree: float
    homophily: float

    def smoothing(self, labels: Nodes, draw: np.random.Generator) -> sp.csr_array:
        r"""The normalised adjacency of one drawn graph, with self-loops.

        An end of an edge is node i with chance :math:`\propto u_i^2`, u uniform; the other end
        is of the same class with chance h, else of any other class.
        """
        order = np.argsort(labels, kind="stable")
        activity = np.cumsum(draw.random(len(labels)) ** 2)  # of the nodes in this order
        starts = np.searchsorted(labels[order], np.arange(CLASSES + 1))
        bounds = np.concatenate([[0.0], activity])[starts]  # [C + 1]
        edges = draw.poisson(len(labels) * self.degree / 2)
        one = np.searchsorted(activity, draw.random(edges) * activity[-1])
        apart = draw.random(edges) >= self.homophily
        block = (labels[order][one] + apart * draw.integers(1, CLASSES, edges)) % CLASSES
        within = bounds[block] + draw.random(edges) * (bounds[block + 1] - bounds[block])
        other = np.minimum(np.searchsorted(activity, within), len(labels) - 1)
        ends = order[np.stack([one, other])]
        loops = np.tile(np.arange(len(labels)), (2, 1))
        rows, columns = np.concatenate([ends, ends[::-1], loops], axis=1)
        joined = sp.csr_array(
            (np.ones(len(rows), dtype=np.float32), (rows, columns)),
            shape=(len(labels), len(labels)),
        )
        joined.data[:] = 1  # doubles are merged
        scale = 1 / np.sqrt(joined.sum(axis=1))
        return sp.csr_array(joined * scale[:, None] * scale[None])


MIDDLE = Sizes("600 nodes", 360, 120, 120)
BLOCK_MODELS = (
    BlockModel(TEXAS, degree=3, homophily=0.1),
    BlockModel(CHAMELEON, degree=15, homophily=0.25),
    BlockModel(CORA, degree=4, homophily=0.8),
    # The factor of scopes.ROLES was chosen on the three above; these two only judge it.
    BlockModel(TEXAS, degree=8, homophily=0.8),
    BlockModel(MIDDLE, degree=8, homophily=0.5),
)
