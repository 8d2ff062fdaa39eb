"""The backbone ``sage``."""

from torch_geometric.nn import SAGEConv

from clar_tune.script.parts.layered import Layered, pairs_of
from clar_tune.script.parts.start import uniform


class Network(Layered):
    r"""GraphSAGE, all neighbours: :math:`X' = D^{-1} A X W_{neighbours} + X W_{own} + b`."""

    def __init__(
        self, inputs: int, outputs: int, hidden: int, layers: int, dropout: float
    ) -> None:
        self.pairs = pairs_of(inputs, hidden, layers, outputs)
        super().__init__(lambda: [SAGEConv(*pair, aggr="mean") for pair in self.pairs], dropout)

    def start(self) -> None:
        """All uniform."""
        for layer, pair in zip(self.layers, self.pairs, strict=True):
            layer.lin_l.weight.copy_(uniform(*pair).t())
            layer.lin_r.weight.copy_(uniform(*pair).t())
            layer.lin_l.bias.copy_(uniform(*pair)[0])
