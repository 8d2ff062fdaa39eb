"""Node pairs that a graph does not join, drawn afresh as often as one likes."""

from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.sparse import Pattern, ascending, keys
from clar_tune.validation import one_of, whole

SAMPLINGS = ("node", "edge", "any")

MAP_BYTES = 2**28
"""Largest bit map of node pairs that is kept; it serves graphs of up to 46,000 nodes."""

DRAWS_AT_ONCE = 2**16
"""How many draws a training of a small graph makes together, for several epochs."""


class Complement:
    r"""Draws partners that a node is not joined to, each with equal probability.

    A partner is drawn from all other nodes. If it happens to be a neighbour, which a bit map of
    the graph tells, it is replaced by an exact draw: let node u have the sorted closed
    neighbourhood :math:`c_0 < \dots < c_d` (itself included). Its r-th non-neighbour is
    :math:`r + \#\{k : c_k - k \le r\}`, and since :math:`c_k - k` ascends, one binary search
    over all rows at once turns uniform ranks into uniform non-neighbours. Nothing is rejected.
    """

    def __init__(self, graph: Adjacency) -> None:
        self.graph = graph.symmetrised
        self._plans: dict[tuple[str, int, int], _Plan] = {}

    def sample(
        self,
        sampling: str,
        samples: int,
        draw: torch.Generator | None = None,
        copies: int = 1,
    ) -> Pattern:
        """A fresh set of absent pairs, each in both directions.

        Args:
            sampling: ``node``: every node draws ``samples`` partners. ``edge``: every end of
                every edge does. ``any``: as ``node``, but from all other nodes, neighbours
                included (the control).
            samples: S of the paper.
            draw: where randomness comes from; torch's global generator if absent.
            copies: how many independent sets are drawn, as blocks on the diagonal.
        """
        source, start, block = self._plan(sampling, samples, copies)
        n = self.graph.num_nodes
        partner = self._anybody(source, draw)
        if sampling != "any":
            joined = self._joined(start, partner)
            partner[joined] = self._exact(source.index_select(0, joined), draw)
        if copies > 1:
            source, partner = source + block, partner + block
        return Pattern.symmetric(source, partner, copies * n)

    def doubled_sample(
        self, sampling: str, samples: int, draw: torch.Generator | None = None, copies: int = 1
    ) -> tuple[Pattern, Tensor]:
        """As :meth:`sample`, with pairs that were drawn twice listed twice, and which are first.

        Nothing is read back, for GPUs: all partners are drawn exactly, without a map.
        """
        source, _, block = self._plan(sampling, samples, copies)
        drawn = self._anybody if sampling == "any" else self._exact
        partner = drawn(source, draw)
        return Pattern.doubled(source + block, partner + block, copies * self.graph.num_nodes)

    def worthwhile_copies(self, sampling: str, samples: int) -> int:
        """How many sets are better drawn together than one by one."""
        draws = len(self._plan(sampling, samples, 1).source)
        return min(max(DRAWS_AT_ONCE // max(draws, 1), 1), 32)

    def _anybody(self, source: Tensor, draw: torch.Generator | None) -> Tensor:
        """Another node for each source."""
        most = max(self.graph.num_nodes - 1, 1)
        partner = torch.randint(
            most, source.shape, generator=draw, device=source.device, dtype=source.dtype
        )
        partner += partner >= source  # anybody but oneself
        return partner

    def _exact(self, source: Tensor, draw: torch.Generator | None) -> Tensor:
        """A uniform non-neighbour of each source."""
        degree = self.graph.pattern.row_counts.index_select(0, source)
        choices = self.graph.num_nodes - 1 - degree
        uniform = torch.rand(
            len(source), dtype=torch.float64, generator=draw, device=source.device
        )
        rank = (uniform * choices).int()
        below = torch.searchsorted(self._shifted, keys(source, rank), right=True, out_int32=True)
        return rank + below - self.graph.looped.indptr.index_select(0, source)

    @cached_property
    def _shifted(self) -> Tensor:
        """For each entry c_k of each closed neighbourhood the key of (u, c_k - k), ascending."""
        looped = self.graph.looped
        place = torch.arange(len(looped.indices), device=looped.indices.device)
        place -= looped.indptr.index_select(0, looped.rows)
        return ascending(keys(looped.rows, looped.indices)) - place

    def _joined(self, start: Tensor, partner: Tensor) -> Tensor:
        """Numbers of the draws to be replaced: those of neighbours, or all without a map."""
        if self._map is None:
            return torch.arange(len(partner), device=partner.device)
        byte = self._map.index_select(0, start + (partner >> 3))
        byte >>= (partner & 7).to(torch.uint8)
        return byte.bitwise_and_(1).nonzero().squeeze(1)

    @cached_property
    def _map(self) -> Tensor | None:
        """One bit per ordered pair of nodes, set where they are joined."""
        n, device = self.graph.num_nodes, self.graph.device
        if n * self._row_bytes > MAP_BYTES:
            return None
        rows, cols = self.graph.pattern.rows.long(), self.graph.pattern.indices.long()
        bits = torch.zeros(n * self._row_bytes, dtype=torch.uint8, device=device)
        # Entries are distinct, so that adding their bits is joining them.
        value = torch.ones_like(cols, dtype=torch.uint8) << (cols & 7).to(torch.uint8)
        return bits.index_add_(0, rows * self._row_bytes + (cols >> 3), value)

    @property
    def _row_bytes(self) -> int:
        return -(-self.graph.num_nodes // 8)

    def _plan(self, sampling: str, samples: int, copies: int) -> "_Plan":
        key = (sampling, samples, copies)
        if key not in self._plans:
            self._plans[key] = self._build_plan(*key)
        return self._plans[key]

    def _build_plan(self, sampling: str, samples: int, copies: int) -> "_Plan":
        one_of("sampling", sampling, SAMPLINGS)
        whole("samples", samples, 1)
        degree = self.graph.pattern.row_counts.long()
        count = degree * samples if sampling == "edge" else torch.full_like(degree, samples)
        # A node that is joined to all others has nobody to draw.
        taken = torch.zeros_like(degree) if sampling == "any" else degree
        source = torch.repeat_interleave(count.where(taken < self.graph.num_nodes - 1, 0)).int()
        block = torch.arange(copies, device=source.device, dtype=torch.int32)
        block = (block * self.graph.num_nodes).repeat_interleave(len(source))
        source = source.repeat(copies)
        return _Plan(source, source * self._row_bytes, block)


class _Plan(NamedTuple):
    """One entry per draw."""

    source: Tensor  # [draws] who draws
    start: Tensor  # [draws] where the row of it begins in the bit map
    block: Tensor  # [draws] where the block of it begins in the pattern
