"""Laplacian energy: how much a signal changes along the edges of a graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clar_tune.adjacency import Adjacency, inverse_root
from clar_tune.sparse import Pattern, product

REDUCTIONS = ("trace", "node-mean", "released")


@dataclass(frozen=True, eq=False)
class Laplacian:
    r""":math:`L(\tilde A) = \mathrm{diag}(\tilde A 1) - \tilde A` of an undirected pattern.

    :math:`\tilde A = D^{-1/2} A D^{-1/2}`. It is not :math:`I - \tilde A`: a constant signal
    costs nothing, and neither does a node without edges.
    """

    pattern: Pattern
    ones: Tensor  # [entries]
    scale: Tensor  # [N, 1]: the root of D^-1
    diagonal: Tensor  # [N, 1]: the row sums of the normalised adjacency

    @staticmethod
    def of(pattern: Pattern, dtype: torch.dtype) -> "Laplacian":
        """The Laplacian of a symmetric pattern."""
        ones = torch.ones(len(pattern.indices), dtype=dtype, device=pattern.indices.device)
        scale = inverse_root(pattern.row_counts, dtype).unsqueeze(1)
        return Laplacian(pattern, ones, scale, scale * (pattern.filled(ones) @ scale))

    def blocks(self, count: int) -> list["Laplacian"]:
        """The Laplacians of ``count`` equal blocks on the diagonal."""
        patterns = self.pattern.blocks(count)
        scales, diagonals = self.scale.chunk(count), self.diagonal.chunk(count)
        return [
            Laplacian(pattern, self.ones[: len(pattern.indices)], scale, diagonal)
            for pattern, scale, diagonal in zip(patterns, scales, diagonals, strict=True)
        ]

    def __matmul__(self, h: Tensor) -> Tensor:
        # Scaling rows before and after the product spares the weights of single edges.
        smoothed = product(self.pattern.filled(self.ones), self.scale * h)
        return torch.addcmul(self.diagonal * h, self.scale, smoothed, value=-1)

    def edges(self) -> tuple[Tensor, Tensor, Tensor]:
        r"""Both ends of each undirected edge, and its weight in :math:`\tilde A`."""
        rows, cols = self.pattern.rows, self.pattern.indices
        once = rows < cols
        rows, cols = rows[once], cols[once]
        scale = self.scale.squeeze(1)
        return rows, cols, scale[rows] * scale[cols]


def laplacian_of(graph: Adjacency, dtype: torch.dtype) -> Laplacian:
    """The Laplacian of an undirected graph."""
    return Laplacian.of(graph.pattern, dtype)


def energies(
    h: Tensor,
    laplacians: Sequence[Laplacian],
    weights: Sequence[float],
    reduction: str,
    clamp: float | None,
) -> tuple[Tensor, Tensor]:
    r"""The sum of ``weight * clamp(r(H), 0, c)`` over Laplacians, and each r(H), detached.

    The reduction r of a signal ``h`` [N, C] is one of

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
        values = torch.stack([_released(h, laplacian) for laplacian in laplacians])
        limited = values.clamp(min=0.0, max=clamp)
        return limited @ limited.new_tensor(weights), values.detach()
    scale = 1 / len(h) if reduction == "node-mean" else 1.0
    result: tuple[Tensor, Tensor] = _Traces.apply(h, laplacians, weights, scale, clamp)  # type: ignore[no-untyped-call]
    return result


def _released(h: Tensor, laplacian: Laplacian) -> Tensor:
    rows, cols, weight = laplacian.edges()
    if len(rows) == 0:
        return h.sum() * 0.0
    distance = (h.index_select(0, rows) - h.index_select(0, cols)).norm(dim=1)
    mean: Tensor = (weight * distance).mean()
    return mean.square() * (2 * len(rows))


class _Traces(torch.autograd.Function):
    r"""Clamped, weighted traces; the gradient :math:`2 L H` of each is a by-product."""

    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        laplacians: Sequence[Laplacian],
        weights: Sequence[float],
        scale: float,
        clamp: float | None,
    ) -> tuple[Tensor, Tensor]:
        # L maps constants to zero, so centring changes nothing but the rounding error,
        # which would drown the energy of a nearly constant signal.
        centred = h - h.mean(dim=0)
        products = [laplacian @ centred for laplacian in laplacians]
        flat = centred.flatten()
        values = scale * torch.stack([flat.dot(each.flatten()) for each in products])
        limited = values.clamp(min=0.0, max=clamp)
        factors = values.new_tensor(weights)
        ctx.save_for_backward(2 * scale * factors * (values == limited), *products)
        ctx.mark_non_differentiable(values)
        return factors.dot(limited), values

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        factors, first, *others = ctx.saved_tensors
        factors = grad * factors
        total = factors[0] * first
        for factor, other in zip(factors[1:], others, strict=True):
            total.addcmul_(factor, other)
        return total, None, None, None, None
