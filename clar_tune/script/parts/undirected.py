"""Pairs of nodes that are joined, whichever way."""

import torch
from torch import Tensor


def undirected_pairs(edge_index: Tensor, num_nodes: int) -> Tensor:
    """[2, pairs] Each pair once, the smaller number first, in ascending order."""
    ends = edge_index.sort(dim=0)[0]
    keys = torch.unique(ends[0] * num_nodes + ends[1])
    return torch.stack([keys // num_nodes, keys % num_nodes])
