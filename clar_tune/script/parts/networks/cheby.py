"""The backbone ``cheby``."""

import torch
from torch import Tensor, nn
from torch_geometric.nn import ChebConv

from clar_tune.script.parts.layered import Layered, pairs_of
from clar_tune.script.parts.start import glorot


class Network(Layered):
    r"""Chebyshev filters: :math:`X' = \sum_{k=0}^{K} T_k(\hat L) X W_k + b`.

    :math:`\hat L = L - I` for the normalised Laplacian; torch-geometric counts K + 1 terms.
    """

    def __init__(
        self, inputs: int, outputs: int, hidden: int, layers: int, dropout: float, K: int
    ) -> None:
        self.pairs = pairs_of(inputs, hidden, layers, outputs)
        super().__init__(lambda: [ChebConv(*pair, K=K + 1) for pair in self.pairs], dropout)

    def start(self) -> None:
        """Weights by Glorot, biases at zero."""
        for layer, pair in zip(self.layers, self.pairs, strict=True):
            for term in layer.lins:
                term.weight.copy_(glorot(*pair).t())
            nn.init.zeros_(layer.bias)

    def apply_layer(self, layer: nn.Module, h: Tensor, edge_index: Tensor) -> Tensor:
        """A filter whose largest eigenvalue counts as 2."""
        result: Tensor = layer(h, edge_index, lambda_max=torch.tensor(2.0))
        return result
