"""The protocol ``balanced-60-20-20``."""

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from clar_tune.script.parts.seeds import seed_for
from clar_tune.script.parts.shuffled import rank_in_class, shuffled


def split(data: Data, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """0.6 N / C nodes of each class train, or all it has; 0.2 N validate, the rest tests."""
    count, classes = len(data.y), int(data.y.max()) + 1
    order, again = shuffled(count, seed), shuffled(count, seed_for("rest", seed))
    chosen = rank_in_class(data.y.numpy()[order]) < 3 * count // (5 * classes)
    rest = again[~chosen[again]]  # those left of a small class stand late: shuffled once more
    taken = np.zeros(count, dtype=bool)
    taken[rest[: count // 5]] = True
    parts = (order[chosen], order[taken], order[~chosen & ~taken])
    train, val, test = (torch.from_numpy(np.sort(part)) for part in parts)
    return train, val, test
