"""The backbone ``gat``."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

from clar_tune.script.parts.layered import Layered, pairs_of
from clar_tune.script.parts.start import glorot

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"elu": nn.functional.elu, "relu": torch.relu}


class Network(Layered):
    r"""Graph attention: :math:`x'_i = \Vert_h \sum_j \alpha^h_{ij} W^h x_j + b`.

    Attention is dropped by torch's own draws, so that scores with dropout differ by chance.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        hidden: int,
        layers: int,
        dropout: float,
        heads: int,
        attention_dropout: float | None = None,
        activation: str = "elu",
    ) -> None:
        rate = dropout if attention_dropout is None else attention_dropout
        pairs = pairs_of(inputs, hidden, layers, outputs)
        several = [heads] * (layers - 1) + [1]  # the last layer has one head
        self.sizes = [
            (wide * (heads if number else 1), out, several[number])
            for number, (wide, out) in enumerate(pairs)
        ]
        super().__init__(
            lambda: [GATConv(wide, out, heads=n, dropout=rate) for wide, out, n in self.sizes],
            dropout,
        )
        self.activation = ACTIVATIONS[activation]

    def start(self) -> None:
        """All by Glorot, biases at zero."""
        for layer, (inputs, outputs, heads) in zip(self.layers, self.sizes, strict=True):
            layer.lin.weight.copy_(glorot(inputs, heads * outputs).t())
            layer.att_src.copy_(glorot(heads, outputs).unsqueeze(0))
            layer.att_dst.copy_(glorot(heads, outputs).unsqueeze(0))
            nn.init.zeros_(layer.bias)
