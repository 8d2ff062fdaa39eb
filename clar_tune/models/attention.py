"""Graph attention with one sparse product for all heads."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from clar_tune.models.adjacency import Adjacency, left_per_head, per_head
from clar_tune.models.dropout import dropped
from clar_tune.models.layers import Features, glorot, mapped
from clar_tune.models.sparse import Pattern, product

SLOPE = 0.2
"""Negative slope of the leaky ReLU, as in the paper and in torch-geometric."""


class GatLayer(nn.Module):
    r"""Graph attention of `Velickovic et al. (2018) <https://arxiv.org/abs/1710.10903>`_.

    .. math:: x'_i = \Vert_h \sum_{j \in N(i) \cup \{i\}} \alpha^h_{ij} W^h x_j + b, \qquad
              \alpha^h_{ij} = \mathrm{softmax}_j\,
              \mathrm{LeakyReLU}(a_t^h \cdot W^h x_i + a_s^h \cdot W^h x_j)

    Heads are concatenated.
    """

    def __init__(
        self, in_features: int, out_features: int, heads: int, attention_dropout: float
    ) -> None:
        super().__init__()
        self.heads, self.attention_dropout = heads, attention_dropout
        self.weight = nn.Parameter(glorot(in_features, heads * out_features))
        self.source = nn.Parameter(glorot(heads, out_features))
        self.target = nn.Parameter(glorot(heads, out_features))
        self.bias = nn.Parameter(torch.zeros(heads * out_features))

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """``x`` [N, in] -> [N, heads * out]."""
        z = mapped(x, self.weight)  # [N, heads * out]
        attention = torch.cat([_block_diagonal(self.source), _block_diagonal(self.target)], dim=1)
        scores = mapped(z, attention).t().contiguous()  # [2 * heads, N]
        score_source, score_target = scores.chunk(2)
        z = z.view(len(z), self.heads, -1).transpose(0, 1).contiguous()
        rate = self.attention_dropout if self.training else 0.0
        pattern = graph.derived(per_head, self.heads)
        left = left_per_head(graph, self.heads)
        summed: Tensor = _Attend.apply(z, score_source, score_target, pattern, rate, left)  # type: ignore[no-untyped-call]
        return summed.transpose(0, 1).flatten(1) + self.bias


def _block_diagonal(vectors: Tensor) -> Tensor:
    """One column per head that holds the head's vector in its place: [heads * out, heads]."""
    heads = len(vectors)
    identity = torch.eye(heads, dtype=vectors.dtype, device=vectors.device)
    return (vectors.unsqueeze(2) * identity.unsqueeze(1)).view(-1, heads)


class _Attend(torch.autograd.Function):
    r"""Softmax attention over the rows of a sparse pattern, forward and backward.

    With :math:`z` the mapped features, :math:`o_i = \sum_j \alpha_{ij} z_j` the output and
    :math:`g` its gradient: :math:`\partial \alpha_{ij} = g_i \cdot z_j`, and the gradient of
    the softmax needs no second sum over a row, because
    :math:`\sum_k \alpha_{ik} \partial\alpha_{ik} = g_i \cdot o_i`.
    """

    @staticmethod
    def forward(
        ctx: Any,
        mapped: Tensor,
        source: Tensor,
        target: Tensor,
        pattern: Pattern,
        rate: float,
        left: Tensor | None,
    ) -> Tensor:
        z = mapped.flatten(0, 1)  # [heads * N, out]
        raw = target.flatten().index_select(0, pattern.rows)
        raw += source.flatten().index_select(0, pattern.indices)
        if left is not None:  # whoever is gone gets no attention
            raw = raw.masked_fill_(~left, -torch.inf)
        scores = leaky_relu(raw, SLOPE)
        weights = _row_softmax(pattern, scores)
        kept = dropped(weights, rate) if rate else weights
        out = product(pattern.filled(kept), z)
        ctx.save_for_backward(z, raw, weights, kept, out)
        ctx.pattern, ctx.shape = pattern, mapped.shape
        return out.view(mapped.shape)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        z, raw, weights, kept, out = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        transposed, order = pattern.transposition
        g = grad.reshape(out.shape)  # [heads * N, out]
        d_mapped = product(transposed.filled(kept.index_select(0, order)), g)
        # kept = weights * mask * scale, so kept * (g_i . z_j) = weights * d_weights.
        ones = pattern.filled(torch.ones_like(kept))
        d_raw = torch.sparse.sampled_addmm(ones, g, z.t(), beta=0.0).values() * kept
        d_raw -= weights * (g * out).sum(1).index_select(0, pattern.rows)
        d_raw *= torch.where(raw > 0, 1.0, SLOPE)
        one = torch.ones(pattern.num_cols, 1, dtype=z.dtype, device=z.device)
        d_target = pattern.filled(d_raw) @ one
        d_source = transposed.filled(d_raw.index_select(0, order)) @ one
        heads, nodes = ctx.shape[:2]
        return (
            d_mapped.view(ctx.shape),
            d_source.view(heads, nodes),
            d_target.view(heads, nodes),
            None,
            None,
            None,
        )


def _row_softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """Softmax of the entries of each row; every row must have one."""
    highest = torch.segment_reduce(scores, "max", offsets=pattern.indptr.long())
    weights = (scores - highest.index_select(0, pattern.rows)).exp_()
    one = torch.ones(pattern.num_cols, 1, dtype=scores.dtype, device=scores.device)
    total = (pattern.filled(weights) @ one).squeeze(1)
    return weights / total.index_select(0, pattern.rows)
