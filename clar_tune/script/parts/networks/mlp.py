"""The backbone ``mlp``."""

from torch import Tensor, nn

from clar_tune.script.parts.layered import Layered, pairs_of
from clar_tune.script.parts.start import uniform


class Network(Layered):
    r"""A perceptron, :math:`X' = X W + b`: the graph is not looked at."""

    def __init__(
        self, inputs: int, outputs: int, hidden: int, layers: int, dropout: float
    ) -> None:
        self.pairs = pairs_of(inputs, hidden, layers, outputs)
        super().__init__(lambda: [nn.Linear(*pair) for pair in self.pairs], dropout)

    def start(self) -> None:
        """All uniform."""
        for layer, pair in zip(self.layers, self.pairs, strict=True):
            layer.weight.copy_(uniform(*pair).t())
            layer.bias.copy_(uniform(*pair)[0])

    def apply_layer(self, layer: nn.Module, h: Tensor, edge_index: Tensor) -> Tensor:
        """A layer that needs no edges."""
        result: Tensor = layer(h)
        return result
