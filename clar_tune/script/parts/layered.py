"""What all backbones share: layers with dropout before and a non-linearity between them."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from clar_tune.script.parts.dropout import dropped, dropped_features


class Layered(nn.Module):
    """Layers of torch-geometric, whose weights :meth:`start` draws."""

    layers: Any

    def __init__(self, make: Callable[[], Iterable[nn.Module]], dropout: float) -> None:
        super().__init__()
        with torch.random.fork_rng([]):  # the start that the layers give themselves is not used
            self.layers = nn.ModuleList(make())
        self.dropout = dropout
        self.activation: Callable[[Tensor], Tensor] = torch.relu
        with torch.no_grad():
            self.start()

    def start(self) -> None:
        """Draw the weights, one layer after the other."""

    def apply_layer(self, layer: nn.Module, h: Tensor, edge_index: Tensor) -> Tensor:
        """One layer; most are called so."""
        result: Tensor = layer(h, edge_index)
        return result

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits [N, C]."""
        rate = self.dropout if self.training else 0.0
        h = dropped_features(x, rate) if rate else x
        for number, layer in enumerate(self.layers):
            if number:
                h = self.activation(h)
                h = dropped(h, rate) if rate else h
            h = self.apply_layer(layer, h, edge_index)
        return h


def pairs_of(inputs: int, hidden: int, layers: int, outputs: int) -> list[tuple[int, int]]:
    """Input and output width of each layer."""
    widths = [inputs, *[hidden] * (layers - 1), outputs]
    return list(zip(widths, widths[1:], strict=False))
