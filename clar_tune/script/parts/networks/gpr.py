"""The backbone ``gpr``."""

import torch
from torch import Tensor, nn

from clar_tune.script.parts.layered import Layered, pairs_of
from clar_tune.script.parts.smoothing import smoothed
from clar_tune.script.parts.start import uniform


class Network(Layered):
    r"""Generalised PageRank: :math:`Z = \sum_{k=0}^{K} \gamma_k \hat A^k\, \mathrm{MLP}(X)`.

    :math:`\gamma` starts as :math:`r (1 - r)^k`, and :math:`(1 - r)^K` at last; it does not decay.
    """

    no_decay = ("gamma",)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        hidden: int,
        layers: int,
        dropout: float,
        K: int,
        restart: float,
    ) -> None:
        self.pairs = pairs_of(inputs, hidden, layers, outputs)
        super().__init__(lambda: [nn.Linear(*pair) for pair in self.pairs], dropout)
        powers = (1.0 - restart) ** torch.arange(K + 1)
        self.gamma = nn.Parameter(torch.cat([restart * powers[:-1], powers[-1:]]))

    def start(self) -> None:
        """All uniform."""
        for layer, pair in zip(self.layers, self.pairs, strict=True):
            layer.weight.copy_(uniform(*pair).t())
            layer.bias.copy_(uniform(*pair)[0])

    def apply_layer(self, layer: nn.Module, h: Tensor, edge_index: Tensor) -> Tensor:
        """A layer that needs no edges."""
        result: Tensor = layer(h)
        return result

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits [N, C]."""
        power = super().forward(x, edge_index)
        result = self.gamma[0] * power
        for weight in self.gamma[1:]:
            power = smoothed(power, edge_index)
            result = result + weight * power
        return result
