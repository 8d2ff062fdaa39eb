"""Deep propagation at one width that never loses sight of where it began."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency, smoothing, unlooped
from clar_tune.models.backbone import Backbone
from clar_tune.models.gating import gated
from clar_tune.models.layers import Features, LinearLayer, glorot, mapped, uniform
from clar_tune.validation import fraction, number, positive


class Anchored(Backbone):
    r"""Layers of the width ``hidden`` between two linear maps; each sees the first representation.

    .. math:: H^0 = \sigma(X W_{in} + b_{in}), \qquad H^l = f_l(H^{l-1}, H^0), \qquad
              Z = H^L W_{out} + b_{out}
    """

    def __init__(self, *sizes: int, **architecture: Any) -> None:
        super().__init__(*sizes, **architecture)
        (inputs, outputs), (_, hidden) = sizes, self.pairs[0]
        self.first, self.last = LinearLayer(inputs, hidden), LinearLayer(hidden, outputs)

    def widths(self, inputs: int, hidden: int, layers: int, outputs: int) -> list[int]:
        """All alike: the maps before and after them change the width."""
        return [hidden] * (layers + 1)

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """Logits [N, out] of all nodes."""
        anchor: Tensor = self.activation(self.first(self._drop(x), graph))
        h = anchor
        for layer in self.layers:
            h = self.step(layer, h, anchor, graph)
        logits: Tensor = self.last(self._drop(h), graph)
        return logits

    def step(self, layer: nn.Module, h: Tensor, anchor: Tensor, graph: Adjacency) -> Tensor:
        """What a layer makes of the representation ``h`` [N, hidden]."""
        raise NotImplementedError


class GcniiLayer(nn.Module):
    r"""Convolution of `Chen et al. (2020) <https://arxiv.org/abs/2007.02133>`_.

    .. math:: X' = ((1 - a) \hat A X + a X^0) ((1 - b) I + b W)

    Args:
        width: of input and output.
        initial: the share a of the first representation.
        mapped_share: the share b of the learned map.
    """

    def __init__(self, width: int, initial: float, mapped_share: float) -> None:
        super().__init__()
        self.initial, self.mapped_share = initial, mapped_share
        self.weight = nn.Parameter(glorot(width, width))

    def forward(self, x: Tensor, anchor: Tensor, graph: Adjacency) -> Tensor:
        """``x`` and ``anchor`` [N, width] -> [N, width]."""
        matrix = graph.derived(smoothing, self.weight.dtype)
        mixed = torch.lerp(matrix @ x, anchor, self.initial)
        return torch.lerp(mixed, mapped(mixed, self.weight), self.mapped_share)


class Gcnii(Anchored):
    r"""Layers of :class:`GcniiLayer`; the l-th maps with a share of :math:`\log(\theta / l + 1)`.

    Args:
        sizes: number of input features and of outputs.
        initial: the share of the first representation in every layer.
        theta: how much layers map; deep ones map less.
        architecture: as of :class:`Backbone`.
    """

    def __init__(
        self, *sizes: int, initial: float = 0.1, theta: float = 0.5, **architecture: Any
    ) -> None:
        self.initial = fraction("initial", initial)
        self.theta = positive("theta", theta)
        super().__init__(*sizes, **architecture)

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of widths."""
        return [
            GcniiLayer(width, self.initial, math.log(self.theta / depth + 1))
            for depth, (_, width) in enumerate(widths, start=1)
        ]

    def step(self, layer: nn.Module, h: Tensor, anchor: Tensor, graph: Adjacency) -> Tensor:
        """Dropout, the layer, a non-linearity."""
        return self.activation(layer(self._drop(h), anchor, graph))


class FagcnLayer(nn.Module):
    r"""Convolution of `Bo et al. (2021) <https://arxiv.org/abs/2101.00797>`_.

    .. math:: x'_i = \epsilon x^0_i + \sum_{j \in N(i)}
              \frac{\tanh(g_t \cdot x_i + g_s \cdot x_j)}{\sqrt{d_i d_j}} x_j

    A neighbour counts by a number from -1 to 1: what it differs in can be learned as well as
    what it shares. In training these numbers are dropped at ``dropout``.
    """

    def __init__(self, width: int, eps: float, dropout: float) -> None:
        super().__init__()
        self.eps, self.dropout = eps, dropout
        self.source = nn.Parameter(uniform(width, 1))
        self.target = nn.Parameter(uniform(width, 1))

    def forward(self, x: Tensor, anchor: Tensor, graph: Adjacency) -> Tensor:
        """``x`` and ``anchor`` [N, width] -> [N, width]."""
        matrix = graph.derived(unlooped, x.dtype)
        scores = mapped(x, torch.cat([self.source, self.target], dim=1)).t().contiguous()
        rate = self.dropout if self.training else 0.0
        return gated(matrix, x, scores[0], scores[1], rate).add(anchor, alpha=self.eps)


class Fagcn(Anchored):
    """Layers of :class:`FagcnLayer`.

    Args:
        sizes: number of input features and of outputs.
        eps: the weight of the first representation in every layer.
        architecture: as of :class:`Backbone`.
    """

    def __init__(self, *sizes: int, eps: float = 0.3, **architecture: Any) -> None:
        self.eps = number("eps", eps)
        super().__init__(*sizes, **architecture)

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of widths."""
        return [FagcnLayer(width, self.eps, self.dropout) for _, width in widths]

    def step(self, layer: nn.Module, h: Tensor, anchor: Tensor, graph: Adjacency) -> Tensor:
        """The layer alone."""
        result: Tensor = layer(h, anchor, graph)
        return result
