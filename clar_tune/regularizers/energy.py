"""Laplacian energy: how much a signal changes along the edges of a graph."""

from typing import Any

import torch
from torch import Tensor

from clar_tune.adjacency import Adjacency, inverse_root
from clar_tune.regularizers.base import Term, clamped
from clar_tune.sparse import Pattern

REDUCTIONS = ("trace", "node-mean", "released")


class Laplacian:
    r""":math:`L(\tilde A) = \mathrm{diag}(\tilde A 1) - \tilde A` of an undirected pattern.

    :math:`\tilde A = D^{-1/2} A D^{-1/2}`. It is not :math:`I - \tilde A`: a constant signal
    costs nothing, and neither does a node without edges.
    """

    def __init__(self, pattern: Pattern, dtype: torch.dtype) -> None:
        self.pattern = pattern
        ones = torch.ones(len(pattern.indices), dtype=dtype, device=pattern.indices.device)
        self._adjacency = pattern.filled(ones)
        self._scale = inverse_root(pattern.row_counts, dtype).unsqueeze(1)  # [N, 1]
        self._diagonal = self._scale * (self._adjacency @ self._scale)  # [N, 1]

    def __matmul__(self, h: Tensor) -> Tensor:
        # Scaling rows before and after the product spares the weights of single edges.
        smoothed = self._adjacency @ (self._scale * h)
        return torch.addcmul(self._diagonal * h, self._scale, smoothed, value=-1)

    def edges(self) -> tuple[Tensor, Tensor, Tensor]:
        r"""Both ends of each undirected edge, and its weight in :math:`\tilde A`."""
        rows, cols = self.pattern.rows, self.pattern.indices
        once = rows < cols
        rows, cols = rows[once], cols[once]
        scale = self._scale.squeeze(1)
        return rows, cols, scale[rows] * scale[cols]


def laplacian_of(graph: Adjacency, dtype: torch.dtype) -> Laplacian:
    """The Laplacian of an undirected graph."""
    return Laplacian(graph.pattern, dtype)


def energy_term(
    h: Tensor, laplacian: Laplacian, reduction: str, weight: float, clamp: float | None
) -> Term:
    r"""The penalty ``weight * clamp(r(H), 0, c)`` of a signal ``h`` [N, C].

    The reduction r is one of

    ``trace``
        :math:`\mathrm{tr}(H^\top L H) = \sum_{\{i,j\} \in E} \lVert h_i - h_j \rVert^2 /
        \sqrt{d_i d_j}`, the paper's equation.
    ``node-mean``
        the trace divided by N.
    ``released``
        :math:`M (\tfrac1M \sum_{(i,j)} \tilde A_{ij} \lVert h_i - h_j \rVert)^2` over the M
        directed entries, as the code released with the paper computes it.
    """
    if reduction == "released":
        return clamped(_released(h, laplacian), weight, clamp)
    scale = 1 / len(h) if reduction == "node-mean" else 1.0
    loss, value = _Trace.apply(h, laplacian, scale, weight, clamp)  # type: ignore[no-untyped-call]
    return Term(loss, value, clamp)


def _released(h: Tensor, laplacian: Laplacian) -> Tensor:
    rows, cols, weight = laplacian.edges()
    if len(rows) == 0:
        return h.sum() * 0.0
    distance = (h.index_select(0, rows) - h.index_select(0, cols)).norm(dim=1)
    mean: Tensor = (weight * distance).mean()
    return mean.square() * (2 * len(rows))


class _Trace(torch.autograd.Function):
    r"""The clamped, weighted trace, with its gradient :math:`2 L H` from the same product."""

    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        laplacian: Laplacian,
        scale: float,
        weight: float,
        clamp: float | None,
    ) -> tuple[Tensor, Tensor]:
        # L maps constants to zero, so centring changes nothing but the rounding error,
        # which would drown the energy of a nearly constant signal.
        centred = h - h.mean(dim=0)
        product = laplacian @ centred
        value = torch.dot(centred.flatten(), product.flatten()) * scale
        limited = value.clamp(min=0.0, max=clamp)
        ctx.save_for_backward(product, value == limited)
        ctx.factor = 2 * scale * weight
        ctx.mark_non_differentiable(value)
        return weight * limited, value

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        product, within = ctx.saved_tensors
        return product * (grad * within * ctx.factor), None, None, None, None
