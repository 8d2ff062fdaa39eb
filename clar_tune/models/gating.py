"""Sums over neighbours that count by a gate between -1 and 1, forward and backward."""

from typing import Any

import torch
from torch import Tensor

from clar_tune.models.dropout import dropped
from clar_tune.models.sparse import Csr, product


def gated(matrix: Csr, x: Tensor, source: Tensor, target: Tensor, rate: float = 0.0) -> Tensor:
    r""":math:`y_i = \sum_j m_{ij} \tanh(t_i + s_j) x_j` over the entries of a sparse matrix M.

    Args:
        matrix: M, [N, N].
        x: what is summed, [N, width].
        source: s, [N].
        target: t, [N].
        rate: at which entries are dropped.
    """
    result: Tensor = _Gated.apply(x, source, target, matrix, rate)  # type: ignore[no-untyped-call]
    return result


class _Gated(torch.autograd.Function):
    r"""With :math:`g = \partial y` the gradient of an entry is :math:`g_i \cdot x_j`.

    Of that gradient times :math:`m_{ij} (1 - \tanh^2)` rows sum to :math:`\partial t`, columns
    to :math:`\partial s`.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, source: Tensor, target: Tensor, matrix: Csr, rate: float
    ) -> Tensor:
        pattern = matrix.pattern
        gates = target.index_select(0, pattern.rows)
        gates += source.index_select(0, pattern.indices)
        gates.tanh_()
        kept = dropped(matrix.values, rate) if rate else matrix.values
        ctx.save_for_backward(x, gates, kept)
        ctx.pattern = pattern
        return product(pattern.filled(gates * kept), x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, gates, kept = ctx.saved_tensors
        pattern, g = ctx.pattern, grad.contiguous()
        transposed, order = pattern.transposition
        d_x = product(transposed.filled((gates * kept).index_select(0, order)), g)
        ones = pattern.filled(torch.ones_like(kept))
        d_raw = torch.sparse.sampled_addmm(ones, g, x.t(), beta=0.0).values() * kept
        d_raw *= 1 - gates.square()
        one = torch.ones(pattern.num_cols, 1, dtype=x.dtype, device=x.device)
        d_target = (pattern.filled(d_raw) @ one).squeeze(1)
        d_source = (transposed.filled(d_raw.index_select(0, order)) @ one).squeeze(1)
        return d_x, d_source, d_target, None, None
