"""The graph neural networks; every one returns logits."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency, smoothing
from clar_tune.models.attention import GatLayer
from clar_tune.models.dropout import dropped
from clar_tune.models.layers import ChebLayer, Features, GcnLayer, LinearLayer, SageLayer
from clar_tune.models.sparse import Csr
from clar_tune.validation import fraction, one_of, whole

MAX_LAYERS = 64
MAX_HIDDEN = 2**16
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"elu": F.elu_, "relu": F.relu_}
MAX_ORDER = 1024
"""Powers of a filter: as many products with the graph in every epoch."""


class Backbone(nn.Module):
    """Layers with dropout before and a non-linearity between them.

    Args:
        in_features: number of input features.
        out_features: number of outputs, the classes.
        hidden: width of the inner layers.
        layers: number of layers, 1 to 64.
        dropout: rate at which the inputs of every layer are dropped in training.
    """

    layer: type[nn.Module] = LinearLayer
    """What it is made of."""

    no_decay: tuple[str, ...] = ()
    """Names of parameters that weight decay leaves alone."""

    silent: tuple[str, ...] = ()
    """Parameters that a configuration names only if they are not at their default."""

    sizes: Mapping[str, tuple[int, int]] = {"hidden": (1, MAX_HIDDEN), "layers": (1, MAX_LAYERS)}
    """Parameters that decide how large it is, with their bounds."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        hidden: int = 32,
        layers: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        whole("hidden", hidden, *self.sizes["hidden"])
        whole("layers", layers, *self.sizes["layers"])
        self.dropout = fraction("dropout", dropout, below_one=True)
        self.activation: Callable[[Tensor], Tensor] = F.relu_
        widths = [in_features, *[hidden] * (layers - 1), out_features]
        pairs = list(zip(widths, widths[1:], strict=False))
        self.layers = nn.ModuleList(self.make_layers(pairs))

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of input and output widths."""
        return [self.layer(*pair) for pair in widths]

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation give the same logits."""
        return self.dropout == 0

    def facts(self) -> dict[str, float]:
        """What was learned that tells of the frequencies it lets through."""
        return {}

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """Logits [N, out] of all nodes."""
        first, *others = self.layers
        h: Tensor = first(self._drop(x), graph)
        for layer in others:
            h = layer(self._drop(self.activation(h)), graph)
        return h

    def _drop(self, x: Features) -> Features:
        if not self.training or self.dropout == 0:
            return x
        return x.dropout(self.dropout) if isinstance(x, Csr) else dropped(x, self.dropout)


class Mlp(Backbone):
    """A perceptron: the graph is not looked at."""


class Gcn(Backbone):
    """Layers of :class:`GcnLayer`."""

    layer = GcnLayer


class Sage(Backbone):
    """Layers of :class:`SageLayer`."""

    layer = SageLayer


class Cheby(Backbone):
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


class Gat(Backbone):
    """Layers of :class:`GatLayer`; the last has one head.

    Args:
        sizes: number of input features and of outputs.
        heads: of all layers but the last.
        attention_dropout: rate at which attention is dropped; ``None`` for that of ``dropout``.
        activation: ``elu``, or ``relu`` as in the code released with the CLAR paper.
        architecture: as of :class:`Backbone`.
    """

    sizes = {**Backbone.sizes, "heads": (1, MAX_LAYERS)}
    silent = ("activation",)

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

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of widths; inner widths are per head."""
        last = len(widths) - 1
        return [
            GatLayer(
                inputs * (self.heads if number else 1),
                outputs,
                heads=1 if number == last else self.heads,
                attention_dropout=self.attention_dropout,
            )
            for number, (inputs, outputs) in enumerate(widths)
        ]

    @property
    def deterministic(self) -> bool:
        """Whether training and evaluation give the same logits."""
        return self.dropout == 0 and self.attention_dropout == 0


class Gpr(Mlp):
    r"""Generalised PageRank network of `Chien et al. (2021) <https://arxiv.org/abs/2006.07988>`_.

    .. math:: Z = \sum_{k=0}^{K} \gamma_k \hat A^k \, \mathrm{MLP}(X)

    Weights start as personalised PageRank with restart probability r:
    :math:`\gamma_k = r (1 - r)^k` for k < K and :math:`\gamma_K = (1 - r)^K`. They are learned
    without weight decay.
    """

    no_decay = ("gamma",)
    sizes = {**Backbone.sizes, "K": (0, MAX_ORDER)}

    def __init__(self, *sizes: int, K: int = 2, restart: float = 0.1, **architecture: Any) -> None:
        super().__init__(*sizes, **architecture)
        self.K = whole("K", K, *self.sizes["K"])
        powers = (1.0 - fraction("restart", restart)) ** torch.arange(K + 1)
        self.gamma = nn.Parameter(torch.cat([restart * powers[:-1], powers[-1:]]))

    def facts(self) -> dict[str, float]:
        r"""The weights: the response is :math:`\sum_k \gamma_k (1 - \lambda)^k`."""
        return {f"gamma_{k}": weight for k, weight in enumerate(self.gamma.tolist())}

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """Logits [N, out] of all nodes."""
        power = super().forward(x, graph)  # Â^k MLP(X)
        matrix = graph.derived(smoothing, power.dtype)
        result = self.gamma[0] * power
        for weight in self.gamma[1:]:
            power = matrix @ power
            result = result + weight * power
        return result


BACKBONES: dict[str, type[Backbone]] = {
    "gcn": Gcn,
    "gat": Gat,
    "sage": Sage,
    "cheby": Cheby,
    "gpr": Gpr,
    "mlp": Mlp,
}
