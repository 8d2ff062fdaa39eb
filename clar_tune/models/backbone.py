"""What built-in backbones share: layers, dropout before and a non-linearity between them."""

from collections.abc import Callable, Mapping
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.dropout import dropped
from clar_tune.models.layers import Features, LinearLayer
from clar_tune.models.sparse import Csr
from clar_tune.validation import fraction, whole

MAX_LAYERS = 64
MAX_HIDDEN = 2**16
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

    options: tuple[str, ...] = ()
    """Silent ones whose first points in a search are drawn apart from those of all others."""

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
        widths = self.widths(in_features, hidden, layers, out_features)
        self.pairs = list(pairwise(widths))
        self.layers = nn.ModuleList(self.make_layers(self.pairs))

    def widths(self, inputs: int, hidden: int, layers: int, outputs: int) -> list[int]:
        """The width of what enters the first layer, then of what each layer gives."""
        return [inputs, *[hidden] * (layers - 1), outputs]

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

    def _drop(self, x: Features, rate: float | None = None) -> Features:
        """In training ``x`` with dropout, at ``dropout`` unless another rate is given."""
        rate = self.dropout if rate is None else rate
        if not self.training or rate == 0:
            return x
        return x.dropout(rate) if isinstance(x, Csr) else dropped(x, rate)


class Mlp(Backbone):
    """A perceptron: the graph is not looked at."""
