"""Filters of a perceptron's outputs: polynomials of the graph."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency, smoothing, unlooped
from clar_tune.models.backbone import MAX_ORDER, Backbone, Mlp
from clar_tune.models.layers import Features
from clar_tune.validation import fraction, whole


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


class Appnp(Mlp):
    r"""Personalised PageRank of `Gasteiger et al. (2019) <https://arxiv.org/abs/1810.05997>`_.

    .. math:: Z^0 = \mathrm{MLP}(X), \qquad
              Z^k = (1 - r) \hat A Z^{k-1} + r Z^0, \qquad Z = Z^K

    Edges are not dropped on the way; the regularizer ``dropedge`` does that.

    Args:
        sizes: number of input features and of outputs.
        K: steps.
        restart: the probability r to begin anew.
        architecture: as of :class:`Backbone`.
    """

    sizes = {**Backbone.sizes, "K": (0, MAX_ORDER)}

    def __init__(
        self, *sizes: int, K: int = 10, restart: float = 0.1, **architecture: Any
    ) -> None:
        super().__init__(*sizes, **architecture)
        self.K = whole("K", K, *self.sizes["K"])
        self.restart = fraction("restart", restart)

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """Logits [N, out] of all nodes."""
        start = super().forward(x, graph)
        matrix = graph.derived(smoothing, start.dtype)
        result = start
        for _ in range(self.K):
            result = torch.lerp(matrix @ result, start, self.restart)
        return result


class Bernnet(Mlp):
    r"""Bernstein polynomials of `He et al. (2021) <https://arxiv.org/abs/2106.10994>`_.

    .. math:: Z = \sum_{k=0}^{K} \theta_k \frac{1}{2^K} \binom{K}{k}
                  (2 I - L)^{K-k} L^k \, \mathrm{MLP}(X), \qquad L = I - D^{-1/2} A D^{-1/2}

    with weights :math:`\theta_k \ge 0`, which start at 1 and are learned without weight decay; a
    weight below zero counts as zero. A spectrum is that of an undirected graph: directed edges
    are taken in both directions. With :math:`P = I - L/2` and :math:`Q = L/2` the sum is taken
    from the left,

    .. math:: U_k = Q U_{k-1}, \qquad
              S_k = P S_{k-1} + \theta_k \tbinom{K}{k} U_k, \qquad Z = S_K

    in K products with the graph, instead of one for each factor of each term.
    """

    no_decay = ("theta",)
    sizes = {**Backbone.sizes, "K": (0, 64)}  # binomials of larger orders exceed 64 bits

    def __init__(self, *sizes: int, K: int = 10, **architecture: Any) -> None:
        super().__init__(*sizes, **architecture)
        self.K = whole("K", K, *self.sizes["K"])
        self.theta = nn.Parameter(torch.ones(K + 1))

    def facts(self) -> dict[str, float]:
        r"""The weights: the response at :math:`\lambda = 2k/K` is near :math:`\theta_k`."""
        return {f"theta_{k}": weight for k, weight in enumerate(self.theta.relu().tolist())}

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """Logits [N, out] of all nodes."""
        high = super().forward(x, graph)  # U_k
        undirected = graph if graph.symmetric else graph.symmetrised
        matrix = undirected.derived(unlooped, high.dtype)
        theta = self.theta.relu()
        total = theta[0] * high  # S_k
        for k in range(1, self.K + 1):
            near = matrix @ torch.cat([total, high], dim=1)
            near_total, near_high = near.chunk(2, dim=1)
            high = (high - near_high) / 2
            total = (total + near_total) / 2 + math.comb(self.K, k) * theta[k] * high
        return total
