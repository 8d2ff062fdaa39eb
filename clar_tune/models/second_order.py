"""Neighbours and their neighbours apart, as H2GCN sees them."""

from typing import Any

import scipy.sparse as sp
import torch
from torch import Tensor, nn

from clar_tune.models.adjacency import Adjacency, MaskedAdjacency, unlooped
from clar_tune.models.backbone import Backbone
from clar_tune.models.layers import Features, LinearLayer, glorot, mapped
from clar_tune.models.sparse import Pattern
from clar_tune.validation import whole

MORE_THAN_PATHS = 2.0**20
"""More than there are paths of length two between any two nodes."""


def second_neighbours(graph: Adjacency) -> Adjacency:
    """The graph that joins each node to those that are exactly two steps away.

    Entries of :math:`(A + c I)^2 = A^2 + 2 c A + c^2 I` below c are paths of length two between
    nodes that are neither equal nor joined.
    """
    if isinstance(graph, MaskedAdjacency):
        return second_neighbours(graph.compact)
    looped = graph.looped
    values = torch.where(looped.rows == looped.indices, MORE_THAN_PATHS, 1.0)
    entries = (tensor.cpu().numpy() for tensor in (values, looped.indices, looped.indptr))
    matrix = sp.csr_array(tuple(entries), shape=looped.shape)
    square = matrix @ matrix
    square.sort_indices()
    data, indices, indptr = (
        torch.from_numpy(array).to(graph.device)
        for array in (square.data, square.indices, square.indptr)
    )
    pattern = Pattern(indptr.int(), indices.int(), graph.num_nodes)
    return Adjacency(pattern.select(data < MORE_THAN_PATHS), symmetric=graph.symmetric)


class H2gcnLayer(nn.Module):
    r"""The rounds and the classifier of `Zhu et al. (2020) <https://arxiv.org/abs/2006.11468>`_.

    .. math:: R^k = [\bar A_1 R^{k-1}, \bar A_2 R^{k-1}], \qquad
              X' = [R^0, R^1, \dots, R^K] \, W + b, \qquad R^0 = X

    with :math:`\bar A_1` of the neighbours and :math:`\bar A_2` of those exactly two steps away,
    both :math:`D^{-1/2} A D^{-1/2}` with their own degrees. The columns of :math:`R^k` are X
    after each product of k of these matrices. As nothing comes between them, X is mapped first,
    and what spreads is as narrow as the outputs: from the longest products on

    .. math:: S_w = X W_w + \bar A_1 S_{w1} + \bar A_2 S_{w2}, \qquad X' = S_{\emptyset} + b

    for the block :math:`W_w` of each word w in 1 and 2 of up to K letters.
    """

    def __init__(self, in_features: int, out_features: int, K: int) -> None:
        super().__init__()
        self.blocks = [out_features * 2**length for length in range(K + 1)]
        words = 2 ** (K + 1) - 1
        weight = glorot(words * in_features, out_features).view(words, in_features, -1)
        self.weight = nn.Parameter(weight.transpose(0, 1).reshape(in_features, -1))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x: Features, graph: Adjacency) -> Tensor:
        """``x`` [N, in] -> [N, out]."""
        first = graph.derived(unlooped, self.weight.dtype)
        second = graph.derived(second_neighbours).derived(unlooped, self.weight.dtype)
        # [N, 2^k * out] for words of k letters: first those that end with 1, then with 2.
        *shorter, total = torch.split(mapped(x, self.weight), self.blocks, dim=1)
        for terms in reversed(shorter):
            near, far = total.chunk(2, dim=1)
            total = terms + first @ near.contiguous() + second @ far.contiguous()
        result: Tensor = total + self.bias
        return result


class H2gcn(Backbone):
    """Linear layers, the last of which is a :class:`H2gcnLayer`.

    Dropout acts on what a layer takes in, here before it spreads over the graph; the authors drop
    what has spread.

    Args:
        sizes: number of input features and of outputs.
        K: rounds.
        architecture: as of :class:`Backbone`.
    """

    sizes = {**Backbone.sizes, "K": (0, 8)}  # as many products of matrices as 2^K

    def __init__(self, *sizes: int, K: int = 2, **architecture: Any) -> None:
        self.K = whole("K", K, *self.sizes["K"])
        super().__init__(*sizes, **architecture)

    def make_layers(self, widths: list[tuple[int, int]]) -> list[nn.Module]:
        """One layer for each pair of widths."""
        *inner, last = widths
        return [*(LinearLayer(*pair) for pair in inner), H2gcnLayer(*last, self.K)]
