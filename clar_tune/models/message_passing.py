"""Message passing layer by layer, with the options that make such networks strong baselines."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.attention import GatLayer
from clar_tune.models.backbone import MAX_LAYERS, MAX_ORDER, Backbone
from clar_tune.models.layers import ChebLayer, Features, GcnLayer, LinearLayer, SageLayer
from clar_tune.validation import flag, fraction, one_of, whole

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"elu": F.elu_, "relu": F.relu_}
NORMS: dict[str, Callable[[int], nn.Module]] = {
    "none": nn.Identity,
    "batch": nn.BatchNorm1d,
    "layer": nn.LayerNorm,
}
JOINED: dict[str, Callable[[list[Tensor]], Tensor]] = {
    "last": lambda outputs: outputs[-1],
    "cat": lambda outputs: torch.cat(outputs, dim=1),
    "max": lambda outputs: torch.stack(outputs).amax(dim=0),
    "sum": lambda outputs: torch.stack(outputs).sum(dim=0),
}
"""What a head reads of the outputs of all layers."""


class MessagePassing(Backbone):
    r"""Layers that may be normalised, bypassed and joined, as `tuned GNNs`_ are.

    .. _tuned GNNs: https://arxiv.org/abs/2406.08993

    .. math:: H^l = \sigma(\mathrm{norm}(P_l(H^{l-1}) + H^{l-1} R_l + r_l)), \qquad H^0 = X

    with the bypass :math:`R_l, r_l` only where there is a residual. The last layer gives the
    logits, without norm and non-linearity; with ``jk`` it is as the others, and a linear head
    reads the logits from what :math:`H^1 \dots H^L` make together (`Xu et al., 2018
    <https://arxiv.org/abs/1806.03536>`_).

    Args:
        sizes: number of input features and of outputs.
        norm: ``none``, ``batch`` (over all nodes) or ``layer`` (over the width of each node).
        residual: whether each layer's input goes past it, through a linear map.
        jk: ``none``, or what the head reads: the ``last`` output, all side by side (``cat``),
            their maximum (``max``) or their ``sum``.
        input_dropout: rate at which the features are dropped; ``None`` for that of ``dropout``.
        architecture: as of :class:`Backbone`.
    """

    options: tuple[str, ...] = ("input_dropout", "jk", "norm", "residual")
    silent: tuple[str, ...] = options

    def __init__(
        self,
        *sizes: int,
        norm: str = "none",
        residual: bool = False,
        jk: str = "none",
        input_dropout: float | None = None,
        **architecture: Any,
    ) -> None:
        make_norm = NORMS[one_of("norm", norm, NORMS)]
        self.has_head = one_of("jk", jk, ("none", *JOINED)) != "none"
        super().__init__(*sizes, **architecture)
        self.batch_norm = norm == "batch"
        rate = self.dropout if input_dropout is None else input_dropout
        self.input_dropout = fraction("input_dropout", rate, below_one=True)
        inner = self.pairs if self.has_head else self.pairs[:-1]
        self.norms = nn.ModuleList(make_norm(width) for _, width in inner)
        bypassed = self.pairs if flag("residual", residual) else []
        self.bypasses = nn.ModuleList(LinearLayer(*pair) for pair in bypassed)
        if self.has_head:
            self.join: Callable[[list[Tensor]], Tensor] = JOINED[jk]
            _, width = self.pairs[-1]
            self.head = LinearLayer(width * (len(inner) if jk == "cat" else 1), sizes[1])

    def widths(self, inputs: int, hidden: int, layers: int, outputs: int) -> list[int]:
        """Those of the layers; a head maps the last one to the outputs."""
        usual = super().widths(inputs, hidden, layers, outputs)
        return [inputs, *[hidden] * layers] if self.has_head else usual

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation give the same logits."""
        return self.dropout == self.input_dropout == 0 and not self.batch_norm

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """Logits [N, out] of all nodes."""
        outputs: list[Tensor] = []
        for number, layer in enumerate(self.layers):
            h = self._drop(outputs[-1]) if outputs else self._drop(x, self.input_dropout)
            mapped: Tensor = layer(h, graph)
            if self.bypasses:
                mapped = mapped + self.bypasses[number](h, graph)
            if number == len(self.norms):
                return mapped
            outputs.append(self.activation(self.norms[number](mapped)))
        logits: Tensor = self.head(self._drop(self.join(outputs)), graph)
        return logits


class Gcn(MessagePassing):
    """Layers of :class:`GcnLayer`."""

    layer = GcnLayer


class Sage(MessagePassing):
    """Layers of :class:`SageLayer`."""

    layer = SageLayer


class Cheby(MessagePassing):
    """Layers of :class:`ChebLayer`; ``K`` 2 means T0 to T2, torch-geometric's ``K=3``."""

    sizes = {**Backbone.sizes, "K": (0, MAX_ORDER)}

    def __init__(self, *sizes: int, K: int = 2, **architecture: Any) -> None:
        self.K = whole("K", K, *self.sizes["K"])
        super().__init__(*sizes, **architecture)

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of widths."""
        return [ChebLayer(*pair, self.K) for pair in widths]

    def facts(self) -> dict[str, float]:
        r"""Of each layer, from 0, the products :math:`\langle W_k, W_j \rangle_F` with k <= j.

        They give its response :math:`\lVert \sum_k T_k(\lambda - 1) W_k \rVert_F` at any
        eigenvalue.
        """
        return {
            f"gram_layer_{place}_{k}_{j}": product
            for place, layer in enumerate(self.layers)
            for (k, j), product in layer.gram().items()  # type: ignore[operator]
        }


class Gat(MessagePassing):
    """Layers of :class:`GatLayer`; the one that gives the logits has one head.

    Args:
        sizes: number of input features and of outputs.
        heads: of all other layers.
        attention_dropout: rate at which attention is dropped; ``None`` for that of ``dropout``.
        activation: ``elu``, or ``relu`` as in the code released with the CLAR paper.
        architecture: as of :class:`MessagePassing`; ``hidden`` is the width of each head.
    """

    sizes = {**Backbone.sizes, "heads": (1, MAX_LAYERS)}
    silent = ("activation", *MessagePassing.silent)

    def __init__(
        self,
        *sizes: int,
        heads: int = 8,
        attention_dropout: float | None = None,
        activation: str = "elu",
        dropout: float = 0.0,
        **architecture: Any,
    ) -> None:
        self.heads = whole("heads", heads, *self.sizes["heads"])
        rate = dropout if attention_dropout is None else attention_dropout
        self.attention_dropout = fraction("attention_dropout", rate, below_one=True)
        super().__init__(*sizes, dropout=dropout, **architecture)
        self.activation = ACTIVATIONS[one_of("activation", activation, ACTIVATIONS)]

    def widths(self, inputs: int, hidden: int, layers: int, outputs: int) -> list[int]:
        """Inner layers are as wide as all their heads together."""
        return super().widths(inputs, self.heads * hidden, layers, outputs)

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of widths."""
        heads = [self.heads] * len(widths)
        if not self.has_head:
            heads[-1] = 1
        return [
            GatLayer(inputs, outputs // own, own, self.attention_dropout)
            for own, (inputs, outputs) in zip(heads, widths, strict=True)
        ]

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation give the same logits."""
        return super().deterministic and self.attention_dropout == 0
