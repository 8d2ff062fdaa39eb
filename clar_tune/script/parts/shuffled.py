"""Random orders that are the same on every machine."""

import numpy as np
from numpy.typing import NDArray


def shuffled(count: int, seed: int) -> NDArray[np.int64]:
    """The numbers from 0 on, in the order of random keys."""
    draw = np.random.Generator(np.random.PCG64(seed))
    return np.argsort(draw.random(count), kind="stable")


def rank_in_class(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many nodes of its class stand before each node."""
    by_class = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[by_class], labels[by_class])
    rank = np.empty_like(by_class)
    rank[by_class] = np.arange(len(labels)) - first
    return rank
