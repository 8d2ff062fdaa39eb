"""The protocol ``coauthor-20-30``."""

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from clar_tune.script.parts.shuffled import rank_in_class, shuffled


def split(data: Data, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """20 nodes of each class train, 30 validate, the rest tests."""
    order = shuffled(len(data.y), seed)
    rank = rank_in_class(data.y.numpy()[order])
    parts = (order[rank < 20], order[(rank >= 20) & (rank < 50)], order[rank >= 50])
    train, val, test = (torch.from_numpy(np.sort(part)) for part in parts)
    return train, val, test
