"""A graph's adjacency and the matrices that layers and penalties make of it."""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from clar_tune.models.sparse import Csr, Pattern, keys

Made = TypeVar("Made")


class Adjacency:
    """A simple graph: one row per target node, one column per source, no self-loops."""

    def __init__(self, pattern: Pattern, *, symmetric: bool) -> None:
        self.pattern = pattern
        self.symmetric = symmetric
        self._derived: dict[tuple[Hashable, ...], Any] = {}

    @staticmethod
    def of(edge_index: Tensor, num_nodes: int) -> "Adjacency":
        """The graph with these (source, target) edges; doubles merge, self-loops go."""
        source, target = edge_index[:, edge_index[0] != edge_index[1]].long()
        pattern = Pattern.of(target, source, num_nodes, num_nodes)
        mirrored = Pattern.of(source, target, num_nodes, num_nodes)
        return Adjacency(pattern, symmetric=pattern.equals(mirrored))

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.pattern.num_cols

    @property
    def device(self) -> torch.device:
        """Where the graph lies."""
        return self.pattern.indptr.device

    @cached_property
    def edge_index(self) -> Tensor:
        """Edges as torch-geometric lists them: (source, target)."""
        return torch.stack([self.pattern.indices.long(), self.pattern.rows.long()])

    @cached_property
    def symmetrised(self) -> "Adjacency":
        """The undirected graph, with each edge in both directions."""
        if self.symmetric:
            return self
        both = torch.cat([self.edge_index, self.edge_index.flip(0)], dim=1)
        return Adjacency.of(both, self.num_nodes)

    @cached_property
    def looped(self) -> Pattern:
        """The pattern of A + I."""
        return self.pattern.with_diagonal()

    @cached_property
    def pairs(self) -> tuple[Tensor, int]:
        """For each entry the number of its undirected pair, and how many pairs there are."""
        rows, cols = self.pattern.rows, self.pattern.indices
        ends = keys(torch.minimum(rows, cols), torch.maximum(rows, cols))
        distinct, number = torch.unique(ends, return_inverse=True)
        return number, len(distinct)

    def thinned(self, keep_pair: Tensor) -> "Adjacency":
        """The graph without the undirected pairs for which ``keep_pair`` is false."""
        number, _ = self.pairs
        return Adjacency(self.pattern.select(keep_pair[number]), symmetric=self.symmetric)

    def derived(self, build: Callable[..., Made], *args: Hashable) -> Made:
        """``build(self, *args)``, made once and kept with the graph."""
        key = (build, *args)
        if key not in self._derived:
            self._derived[key] = build(self, *args)
        return cast(Made, self._derived[key])


def smoothing(graph: Adjacency, dtype: torch.dtype) -> Csr:
    r"""GCN's :math:`\hat A = \hat D^{-1/2} (A + I) \hat D^{-1/2}`, D counting arriving edges."""
    scale = inverse_root(graph.looped.row_counts, dtype)
    return _scaled(graph.looped, scale, graph.symmetric)


def normalised(graph: Adjacency, dtype: torch.dtype) -> Csr:
    r""":math:`\tilde A = D^{-1/2} A D^{-1/2}`, zero for a node without edges.

    D counts the edges that *leave* a node, as torch-geometric's ChebConv does; the direction
    matters for directed graphs only.
    """
    leaving = graph.pattern.indices.bincount(minlength=graph.num_nodes)
    return _scaled(graph.pattern, inverse_root(leaving, dtype), graph.symmetric)


def averaging(graph: Adjacency, dtype: torch.dtype) -> Csr:
    r"""SAGE's mean over in-neighbours, :math:`D^{-1} A`; zero where there is none."""
    mean = graph.pattern.row_counts.to(dtype).clamp(min=1).reciprocal()
    return Csr(graph.pattern, mean[graph.pattern.rows])


def per_head(graph: Adjacency, heads: int) -> Pattern:
    """The pattern of A + I once per head, as one block-diagonal pattern."""
    number = torch.arange(heads, device=graph.device, dtype=torch.int32).unsqueeze(1)
    ends = graph.looped.indptr[1:] + number * len(graph.looped.indices)
    indptr = torch.cat([graph.looped.indptr[:1], ends.flatten()])
    indices = (graph.looped.indices + number * graph.num_nodes).flatten()
    return Pattern(indptr, indices, heads * graph.num_nodes)


def inverse_root(degree: Tensor, dtype: torch.dtype) -> Tensor:
    r""":math:`d^{-1/2}`, and 0 where the degree is 0."""
    return degree.to(dtype).rsqrt().masked_fill_(degree == 0, 0.0)


def _scaled(pattern: Pattern, scale: Tensor, symmetric: bool) -> Csr:
    return Csr(pattern, scale[pattern.rows] * scale[pattern.indices], symmetric=symmetric)
