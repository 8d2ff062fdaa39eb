"""The protocol ``random-60-20-20``."""

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from clar_tune.script.parts.shuffled import shuffled


def split(data: Data, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """60 % of the nodes to train, 20 % to validate, the rest to test, uniformly drawn."""
    order = shuffled(len(data.y), seed)
    sixty, twenty = 3 * len(order) // 5, len(order) // 5
    parts = np.split(order, [sixty, sixty + twenty])
    train, val, test = (torch.from_numpy(np.sort(part)) for part in parts)
    return train, val, test
