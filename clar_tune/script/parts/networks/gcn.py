"""The backbone ``gcn``."""

from torch import nn
from torch_geometric.nn import GCNConv

from clar_tune.script.parts.layered import Layered, pairs_of
from clar_tune.script.parts.start import glorot


class Network(Layered):
    r"""GCN: :math:`X' = \hat D^{-1/2} (A + I) \hat D^{-1/2} X W + b`."""

    def __init__(
        self, inputs: int, outputs: int, hidden: int, layers: int, dropout: float
    ) -> None:
        self.pairs = pairs_of(inputs, hidden, layers, outputs)
        super().__init__(lambda: [GCNConv(*pair) for pair in self.pairs], dropout)

    def start(self) -> None:
        """Weights by Glorot, biases at zero."""
        for layer, pair in zip(self.layers, self.pairs, strict=True):
            layer.lin.weight.copy_(glorot(*pair).t())
            nn.init.zeros_(layer.bias)
