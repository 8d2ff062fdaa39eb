"""A graph's adjacency and the matrices that layers and penalties make of it."""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar, cast

import torch
from torch import Tensor

from clar_tune.models.host_reads import reads_are_free
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

    def thinned_for_an_epoch(self, keep_pair: Tensor) -> "Adjacency":
        """The same; where reads are dear it keeps its size."""
        if reads_are_free(self.device):
            return self.thinned(keep_pair)
        number, _ = self.pairs
        return MaskedAdjacency(self, keep_pair[number])

    def derived(self, build: Callable[..., Made], *args: Hashable) -> Made:
        """``build(self, *args)``, made once and kept with the graph."""
        key = (build, *args)
        if key not in self._derived:
            self._derived[key] = build(self, *args)
        return cast(Made, self._derived[key])


class MaskedAdjacency(Adjacency):
    """A graph of which some entries are left, in the pattern of the whole: no size is read back.

    Layers give the entries that are gone no weight. What was made of the whole graph's pattern,
    such as its transposed one, serves all graphs that are thinned from it.
    """

    def __init__(self, whole: Adjacency, kept: Tensor) -> None:
        super().__init__(whole.pattern, symmetric=whole.symmetric)
        self.whole, self.kept = whole, kept  # [entries] bool

    @cached_property
    def looped(self) -> Pattern:
        """The pattern of A + I of the whole graph."""
        return self.whole.looped

    @cached_property
    def kept_looped(self) -> Tensor:
        """Which entries of that pattern are left: those on the diagonal always."""
        kept = torch.ones_like(self.looped.indices, dtype=torch.bool)
        number = torch.arange(len(self.kept), device=self.device)
        # The diagonal stands last in each row, so that row i begins i places later.
        return kept.index_copy_(0, number + self.pattern.rows, self.kept)

    @cached_property
    def compact(self) -> Adjacency:
        """The same graph in a pattern of its own; how large that is must be read back."""
        return Adjacency(self.pattern.select(self.kept), symmetric=self.symmetric)

    @cached_property
    def edge_index(self) -> Tensor:
        """Edges as torch-geometric lists them: (source, target)."""
        return self.compact.edge_index

    @cached_property
    def symmetrised(self) -> Adjacency:
        """The undirected graph, with each edge in both directions."""
        return self.compact.symmetrised

    @cached_property
    def pairs(self) -> tuple[Tensor, int]:
        """For each entry that is left the number of its pair, and how many pairs there are."""
        return self.compact.pairs

    def thinned(self, keep_pair: Tensor) -> Adjacency:
        """The graph without the undirected pairs for which ``keep_pair`` is false."""
        return self.compact.thinned(keep_pair)

    def thinned_for_an_epoch(self, keep_pair: Tensor) -> Adjacency:
        """The same."""
        return self.compact.thinned_for_an_epoch(keep_pair)


def smoothing(graph: Adjacency, dtype: torch.dtype) -> Csr:
    r"""GCN's :math:`\hat A = \hat D^{-1/2} (A + I) \hat D^{-1/2}`, D counting arriving edges."""
    if isinstance(graph, MaskedAdjacency):
        left = graph.kept_looped.to(dtype)
        scale = inverse_root(_row_sums(graph.looped, left), dtype)
        return _scaled(graph.looped, scale, graph.symmetric, left)
    scale = inverse_root(graph.looped.row_counts, dtype)
    return _scaled(graph.looped, scale, graph.symmetric)


def normalised(graph: Adjacency, dtype: torch.dtype) -> Csr:
    r""":math:`\tilde A = D^{-1/2} A D^{-1/2}`, zero for a node without edges.

    D counts the edges that *leave* a node, as torch-geometric's ChebConv does; the direction
    matters for directed graphs only.
    """
    if isinstance(graph, MaskedAdjacency):
        left = graph.kept.to(dtype)
        transposed, order = graph.pattern.transposition
        scale = inverse_root(_row_sums(transposed, left.index_select(0, order)), dtype)
        return _scaled(graph.pattern, scale, graph.symmetric, left)
    leaving = graph.pattern.indices.bincount(minlength=graph.num_nodes)
    return _scaled(graph.pattern, inverse_root(leaving, dtype), graph.symmetric)


def averaging(graph: Adjacency, dtype: torch.dtype) -> Csr:
    r"""SAGE's mean over in-neighbours, :math:`D^{-1} A`; zero where there is none."""
    if isinstance(graph, MaskedAdjacency):
        left = graph.kept.to(dtype)
        mean = _row_sums(graph.pattern, left).clamp(min=1).reciprocal()
        return Csr(graph.pattern, mean[graph.pattern.rows] * left)
    mean = graph.pattern.row_counts.to(dtype).clamp(min=1).reciprocal()
    return Csr(graph.pattern, mean[graph.pattern.rows])


def per_head(graph: Adjacency, heads: int) -> Pattern:
    """The pattern of A + I once per head, as one block-diagonal pattern."""
    if isinstance(graph, MaskedAdjacency):
        return graph.whole.derived(per_head, heads)
    number = torch.arange(heads, device=graph.device, dtype=torch.int32).unsqueeze(1)
    ends = graph.looped.indptr[1:] + number * len(graph.looped.indices)
    indptr = torch.cat([graph.looped.indptr[:1], ends.flatten()])
    indices = (graph.looped.indices + number * graph.num_nodes).flatten()
    return Pattern(indptr, indices, heads * graph.num_nodes)


def left_per_head(graph: Adjacency, heads: int) -> Tensor | None:
    """Which entries of :func:`per_head` a thinned graph has left; all of any other."""
    return graph.kept_looped.repeat(heads) if isinstance(graph, MaskedAdjacency) else None


def inverse_root(degree: Tensor, dtype: torch.dtype) -> Tensor:
    r""":math:`d^{-1/2}`, and 0 where the degree is 0."""
    return degree.to(dtype).rsqrt().masked_fill_(degree == 0, 0.0)


def _scaled(pattern: Pattern, scale: Tensor, symmetric: bool, left: Tensor | None = None) -> Csr:
    values = scale[pattern.rows] * scale[pattern.indices]
    return Csr(pattern, values if left is None else values * left, symmetric=symmetric)


def _row_sums(pattern: Pattern, values: Tensor) -> Tensor:
    """How many entries count in each row, exactly up to 2^24."""
    ones = torch.ones(pattern.num_cols, dtype=values.dtype, device=values.device)
    return torch.mv(pattern.filled(values), ones)
