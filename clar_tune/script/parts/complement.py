"""Pairs of nodes that a graph does not join, drawn afresh."""

import torch
from torch import Tensor

TOGETHER = 65536
"""So many draws are made at once, for several epochs."""


class Complement:
    r"""Partners that a node is not joined to, each with equal probability.

    A partner is drawn from all other nodes. If it is a neighbour, another draw replaces it: let
    node u have the sorted closed neighbourhood :math:`c_0 < \dots < c_d` (itself included). Its
    r-th non-neighbour is :math:`r + \#\{k : c_k - k \le r\}`.

    Args:
        pairs: [2, pairs] those that are joined.
        num_nodes: N.
        sampling: ``node``: every node draws ``samples`` partners. ``edge``: every end of every
            edge does. ``any``: as ``node``, from all other nodes, neighbours included.
        samples: S.
    """

    def __init__(self, pairs: Tensor, num_nodes: int, sampling: str, samples: int) -> None:
        self.n, self.sampling = num_nodes, sampling
        itself = torch.arange(num_nodes).expand(2, -1)
        near = torch.cat([pairs, pairs.flip(0), itself], dim=1)
        self.near = torch.unique(near[0] * num_nodes + near[1])  # keys of closed neighbourhoods
        self.degree = torch.bincount(self.near // num_nodes, minlength=num_nodes) - 1
        self.first = torch.cumsum(self.degree + 1, 0) - self.degree - 1
        place = torch.arange(len(self.near)) - self.first[self.near // num_nodes]
        self.shifted = self.near - place  # keys of (u, c_k - k)
        count = (
            self.degree * samples if sampling == "edge" else torch.full_like(self.degree, samples)
        )
        alone = self.degree >= num_nodes - 1  # joined to all others: there is nobody to draw
        if sampling != "any":
            count = count.where(~alone, 0)
        self.source = torch.repeat_interleave(count)
        self.copies = min(max(TOGETHER // max(len(self.source), 1), 1), 32)
        self.stock: list[Tensor] = []

    def fresh(self, draw: torch.Generator) -> Tensor:
        """[2, pairs] The next of some sets that were drawn together, each pair once."""
        if not self.stock:
            self.stock = self.drawn(draw)
        return self.stock.pop()

    def drawn(self, draw: torch.Generator) -> list[Tensor]:
        """As many sets as are drawn together."""
        source = self.source.repeat(self.copies)
        most = max(self.n - 1, 1)
        drawn = torch.randint(most, source.shape, generator=draw, dtype=torch.int32)
        partner = drawn.long()
        partner += partner >= source  # anybody but oneself
        if self.sampling != "any":
            joined = torch.isin(source * self.n + partner, self.near).nonzero().squeeze(1)
            partner[joined] = self.exact(source[joined], draw)
        sets = zip(source.chunk(self.copies), partner.chunk(self.copies), strict=True)
        return [self.each_once(*ends) for ends in sets]

    def exact(self, source: Tensor, draw: torch.Generator) -> Tensor:
        """A uniform non-neighbour of each source."""
        uniform = torch.rand(len(source), dtype=torch.float64, generator=draw)
        rank = (uniform * (self.n - 1 - self.degree[source])).long()
        below = torch.searchsorted(self.shifted, source * self.n + rank, right=True)
        return rank + below - self.first[source]

    def each_once(self, source: Tensor, partner: Tensor) -> Tensor:
        """Pairs without doubles, the smaller number first."""
        low, high = torch.minimum(source, partner), torch.maximum(source, partner)
        keys = torch.unique(low * self.n + high)
        return torch.stack([keys // self.n, keys % self.n])
