"""Graph convolutions as sparse products: each equals torch-geometric's layer of that name."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency, averaging, normalised, smoothing
from clar_tune.models.sparse import Csr

Features = Csr | Tensor
"""Node features [N, F]: sparse before the first layer, dense after it."""

NARROW = 16
"""Below this many output columns a dense product is taken transposed."""


class GcnLayer(nn.Module):
    r"""Graph convolution of `Kipf and Welling (2017) <https://arxiv.org/abs/1609.02907>`_.

    .. math:: X' = \hat A X W + b, \qquad \hat A = \hat D^{-1/2} (A + I) \hat D^{-1/2}
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(glorot(in_features, out_features))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """``x`` [N, in] -> [N, out]."""
        matrix = graph.derived(smoothing, self.weight.dtype)
        return propagate_and_map(matrix, x, self.weight).add_(self.bias)


class SageLayer(nn.Module):
    r"""GraphSAGE of `Hamilton et al. (2017) <https://arxiv.org/abs/1706.02216>`_, all neighbours.

    .. math:: X' = D^{-1} A X W_{neighbours} + X W_{self} + b
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.neighbours = nn.Parameter(uniform(in_features, out_features))
        self.own = nn.Parameter(uniform(in_features, out_features))
        self.bias = nn.Parameter(uniform(in_features, out_features)[0].clone())

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """``x`` [N, in] -> [N, out]."""
        matrix = graph.derived(averaging, self.own.dtype)
        gathered = propagate_and_map(matrix, x, self.neighbours)
        return gathered.add_(mapped(x, self.own)).add_(self.bias)


class ChebLayer(nn.Module):
    r"""Chebyshev filter of `Defferrard et al. (2016) <https://arxiv.org/abs/1606.09375>`_.

    .. math:: X' = \sum_{k=0}^{K} T_k(\hat L) X W_k + b, \qquad
              \hat L = \tfrac{2}{\lambda_{max}} L - I = - D^{-1/2} A D^{-1/2}
              \;\text{ with }\; \lambda_{max} = 2

    ``K`` means :math:`T_0 \dots T_K`, torch-geometric's ``K + 1``. The sum is taken by
    Clenshaw's recurrence on the mapped features :math:`Y_k = X W_k`, which are narrow:

    .. math:: B_k = Y_k + 2 \hat L B_{k+1} - B_{k+2}, \qquad
              X' = Y_0 + \hat L B_1 - B_2 + b
    """

    def __init__(self, in_features: int, out_features: int, K: int) -> None:
        super().__init__()
        weights = [glorot(in_features, out_features) for _ in range(K + 1)]
        self.weights = nn.ParameterList(weights)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """``x`` [N, in] -> [N, out]."""
        matrix = graph.derived(normalised, self.bias.dtype)  # minus L-hat
        terms = [mapped(x, weight) for weight in self.weights]  # each [N, out]
        zero = torch.zeros_like(terms[0])
        current, later = zero, zero  # B_{k+1} and B_{k+2}
        for own in reversed(terms[1:]):
            current, later = own - 2 * (matrix @ current) - later, current
        result: Tensor = terms[0] - matrix @ current - later + self.bias
        return result

    def gram(self) -> dict[tuple[int, int], float]:
        r""":math:`\langle W_k, W_j \rangle_F` for k <= j."""
        weights = torch.stack([weight.detach().flatten() for weight in self.weights])
        products = (weights @ weights.t()).tolist()
        orders = range(len(products))
        return {(k, j): products[k][j] for k in orders for j in orders if k <= j}


class LinearLayer(nn.Module):
    r"""A layer that sees no graph: :math:`X' = X W + b`."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(uniform(in_features, out_features))
        self.bias = nn.Parameter(uniform(in_features, out_features)[0].clone())

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """``x`` [N, in] -> [N, out]; ``graph`` is not looked at."""
        return mapped(x, self.weight).add_(self.bias)


def propagate_and_map(matrix: Csr, x: Features, weight: Tensor) -> Tensor:
    """``matrix @ x @ weight``, in the order that makes the sparse product narrow."""
    if isinstance(x, Tensor) and weight.shape[0] < weight.shape[1]:
        return mapped(matrix @ x, weight)
    return matrix @ mapped(x, weight)


def mapped(x: Features, weight: Tensor) -> Tensor:
    """``x @ weight``."""
    if isinstance(x, Tensor) and x.device.type == "cpu" and weight.shape[1] < NARROW:
        result: Tensor = _NarrowProduct.apply(x, weight)  # type: ignore[no-untyped-call]
        return result
    return x @ weight


class _NarrowProduct(torch.autograd.Function):
    """``x @ weight`` for few output columns, such as the classes.

    BLAS is several times slower for a tall matrix with few columns than for the transposed
    product, here and in the gradient of ``weight``.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        # A copy also of one column, which is contiguous as a view: layers add to it in place.
        return (weight.t() @ x.t()).t().clone(memory_format=torch.contiguous_format)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        d_x = grad @ weight.t() if ctx.needs_input_grad[0] else None
        return d_x, (grad.t() @ x).t().contiguous()


def glorot(in_features: int, out_features: int) -> Tensor:
    """Uniform start of Glorot and Bengio."""
    bound = math.sqrt(6 / (in_features + out_features))
    return torch.empty(in_features, out_features).uniform_(-bound, bound)


def uniform(in_features: int, out_features: int) -> Tensor:
    """The uniform start of ``torch.nn.Linear``."""
    bound = 1 / math.sqrt(in_features)
    return torch.empty(in_features, out_features).uniform_(-bound, bound)
