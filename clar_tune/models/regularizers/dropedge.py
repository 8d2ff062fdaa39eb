"""DropEdge: a thinner graph in every epoch."""

import torch

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.regularizers.base import Regularizer
from clar_tune.validation import fraction


class DropEdge(Regularizer):
    """DropEdge of `Rong et al. (2020) <https://arxiv.org/abs/1907.10903>`_.

    Every epoch drops each undirected pair with probability ``rate``, both directions at once,
    and normalises anew what is left. One mask serves all layers; evaluation sees the full graph.

    Args:
        rate: probability that a pair is dropped.
    """

    changes_epochs = True

    def __init__(self, *, rate: float = 0.5) -> None:
        super().__init__()
        self.rate = fraction("rate", rate, below_one=True)

    def epoch_graph(self, graph: Adjacency, draw: torch.Generator) -> Adjacency:
        """The graph without the pairs that this epoch drops."""
        _, count = graph.pairs
        keep = torch.rand(count, generator=draw, device=graph.device) >= self.rate
        return graph.thinned_for_an_epoch(keep)
