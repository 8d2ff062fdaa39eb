"""Laplacian energy: how much a signal changes along the edges of a graph."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import torch
from torch import Tensor

from clar_tune.models.adjacency import Adjacency, inverse_root
from clar_tune.models.host_reads import reads_are_free
from clar_tune.models.sparse import Pattern, product

REDUCTIONS = ("trace", "node-mean", "released")


@dataclass(frozen=True, eq=False)
class Laplacian:
    r""":math:`L(\tilde A) = \mathrm{diag}(\tilde A 1) - \tilde A` of an undirected pattern.

    :math:`\tilde A = D^{-1/2} A D^{-1/2}`. It is not :math:`I - \tilde A`: a constant signal
    costs nothing, and neither does a node without edges.
    """

    pattern: Pattern
    ones: Tensor  # [entries], or 0 where an entry does not count
    scale: Tensor  # [N, 1]: the root of D^-1
    diagonal: Tensor  # [N, 1]: the row sums of the normalised adjacency

    @classmethod
    def of(cls, pattern: Pattern, dtype: torch.dtype) -> Self:
        """The Laplacian of a symmetric pattern."""
        ones = torch.ones(len(pattern.indices), dtype=dtype, device=pattern.indices.device)
        scale = inverse_root(pattern.row_counts, dtype)
        diagonal = scale * torch.mv(pattern.filled(ones), scale)
        return cls(pattern, ones, scale.unsqueeze(1), diagonal.unsqueeze(1))

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


class DoubledLaplacian(Laplacian):
    """A Laplacian of a pattern that lists some pairs twice: the second time they weigh nothing."""

    @classmethod
    def of_first(cls, pattern: Pattern, first: Tensor, dtype: torch.dtype) -> Self:
        """The Laplacian of those entries of a symmetric pattern that are marked."""
        ones = first.to(dtype)
        filled = pattern.filled(ones)
        degree = torch.mv(filled, torch.ones(pattern.num_cols, dtype=dtype, device=ones.device))
        scale = inverse_root(degree, dtype)
        diagonal = scale * torch.mv(filled, scale)
        return cls(pattern, ones, scale.unsqueeze(1), diagonal.unsqueeze(1))

    def blocks(self, count: int) -> list[Laplacian]:
        """The Laplacians of ``count`` blocks on the diagonal that list equally many pairs."""
        patterns = self.pattern.blocks(count, alike=True)
        ones = self.ones.view(count, len(self.ones) // count)
        scales, diagonals = self.scale.chunk(count), self.diagonal.chunk(count)
        parts = zip(patterns, ones, scales, diagonals, strict=True)
        return [DoubledLaplacian(*part) for part in parts]


class StoredLaplacian(Laplacian):
    """A Laplacian that is used often enough to store its entries."""

    @cached_property
    def matrix(self) -> Tensor:
        """All entries, the diagonal included."""
        pattern, scale = self.pattern.with_diagonal(), self.scale.squeeze(1)
        values = -scale[pattern.rows] * scale[pattern.indices]
        on_diagonal = pattern.rows == pattern.indices
        values[on_diagonal] = self.diagonal.squeeze(1)
        return pattern.filled(values)

    def __matmul__(self, h: Tensor) -> Tensor:
        return product(self.matrix, h)


def laplacian_of(graph: Adjacency, dtype: torch.dtype) -> Laplacian:
    """The Laplacian of an undirected graph."""
    return StoredLaplacian.of(graph.pattern, dtype)


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
        if reads_are_free(h.device):
            return limited @ limited.new_tensor(weights), values.detach()
        return _weighted(weights, limited), values.detach()
    scale = 1 / len(h) if reduction == "node-mean" else 1.0
    result: tuple[Tensor, Tensor] = _Traces.apply(h, laplacians, weights, scale, clamp)  # type: ignore[no-untyped-call]
    return result


def _released(h: Tensor, laplacian: Laplacian) -> Tensor:
    if not reads_are_free(h.device):
        return _released_unread(h, laplacian)
    rows, cols, weight = laplacian.edges()
    if len(rows) == 0:
        return h.sum() * 0.0
    distance = (h.index_select(0, rows) - h.index_select(0, cols)).norm(dim=1)
    mean: Tensor = (weight * distance).mean()
    return mean.square() * (2 * len(rows))


def _released_unread(h: Tensor, laplacian: Laplacian) -> Tensor:
    """The same over both directions of each pair, of which there are M as well."""
    pattern, scale = laplacian.pattern, laplacian.scale.squeeze(1)
    rows, cols, present = pattern.rows, pattern.indices, laplacian.ones
    weight = present * scale.index_select(0, rows) * scale.index_select(0, cols)
    distance = (h.index_select(0, rows) - h.index_select(0, cols)).norm(dim=1)
    count = present.sum().clamp(min=1)
    mean: Tensor = (weight * distance).sum() / count
    return mean.square() * count


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
        centred = (h - h.mean(dim=0)).contiguous()
        products = [laplacian @ centred for laplacian in laplacians]
        flat = centred.view(-1)
        stacked = torch.stack([flat.dot(each.view(-1)) for each in products])
        ctx.save_for_backward(*products)
        if not reads_are_free(h.device):
            return _unread_terms(ctx, stacked, weights, scale, clamp)
        traces = stacked.tolist()
        # What is left is arithmetic on one or two numbers, which tensors only slow down.
        values = [scale * trace for trace in traces]
        limited = [
            max(value, 0.0) if clamp is None else min(max(value, 0.0), clamp) for value in values
        ]
        terms = list(zip(weights, values, limited, strict=True))
        ctx.factors = [2 * scale * weight * (value == limit) for weight, value, limit in terms]
        loss = sum(weight * limit for weight, _, limit in terms)
        measured = h.new_tensor(values)
        ctx.mark_non_differentiable(measured)
        return h.new_tensor(loss), measured

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        first, *others = ctx.saved_tensors
        total = first * ctx.factors[0]
        for factor, other in zip(ctx.factors[1:], others, strict=True):
            if isinstance(factor, Tensor):
                total.addcmul_(other, factor)
            else:
                total.add_(other, alpha=factor)
        return total.mul_(grad), None, None, None, None


def _unread_terms(
    ctx: Any, traces: Tensor, weights: Sequence[float], scale: float, clamp: float | None
) -> tuple[Tensor, Tensor]:
    """The same arithmetic on the device, in 64 bit as Python's is."""
    values = scale * traces.double()
    limited = values.clamp(min=0.0, max=clamp)
    free = (values == limited).to(traces.dtype)
    ctx.factors = [2 * scale * weight * each for weight, each in zip(weights, free, strict=True)]
    measured = values.to(traces.dtype)
    ctx.mark_non_differentiable(measured)
    return _weighted(weights, limited).to(traces.dtype), measured


def _weighted(weights: Sequence[float], values: Tensor) -> Tensor:
    """The weighted sum; weights go along with the calls, not as a tensor that is sent."""
    return torch.stack([w * value for w, value in zip(weights, values, strict=True)]).sum()
