"""What all regularizers may do to a training."""

import torch
from torch import Tensor


class Plain:
    """Adds nothing to the loss, and changes neither the graph nor the answers.

    Args:
        edge_index: the edges of the graph.
        num_nodes: N.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int) -> None:
        self.edge_index, self.num_nodes = edge_index, num_nodes

    def epoch_edges(self, draw: torch.Generator) -> Tensor:
        """The edges on which one epoch trains."""
        return self.edge_index

    def __call__(self, h: Tensor, draw: torch.Generator) -> Tensor:
        """What is added to the loss, from logits ``h`` [N, C] in training."""
        return h.new_zeros(())

    def corrected(self, logits: Tensor, labels: Tensor, train: Tensor, val: Tensor) -> Tensor:
        """The logits of the selected epoch as they are answered."""
        return logits
