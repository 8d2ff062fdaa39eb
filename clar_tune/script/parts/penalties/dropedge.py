"""The regularizer ``dropedge``."""

import torch
from torch import Tensor

from clar_tune.script.parts.plain import Plain
from clar_tune.script.parts.undirected import undirected_pairs


class Penalty(Plain):
    """DropEdge: each epoch drops each undirected pair at ``rate``, both directions at once."""

    def __init__(self, edge_index: Tensor, num_nodes: int, rate: float) -> None:
        super().__init__(edge_index, num_nodes)
        self.rate = rate
        once = undirected_pairs(edge_index, num_nodes)
        low, high = edge_index.min(dim=0)[0], edge_index.max(dim=0)[0]
        keys = once[0] * num_nodes + once[1]
        self.pair = torch.searchsorted(keys, low * num_nodes + high)  # of each edge
        self.count = once.shape[1]

    def epoch_edges(self, draw: torch.Generator) -> Tensor:
        """The edges that this epoch keeps."""
        keep = torch.rand(self.count, generator=draw) >= self.rate
        return self.edge_index[:, keep[self.pair]]
