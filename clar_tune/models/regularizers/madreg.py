"""MADReg: near nodes alike, remote nodes different, by cosine distance."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.regularizers.base import (
    UNLIMITED,
    Penalty,
    Regularizer,
    checked_clamp,
    one_term,
)
from clar_tune.models.sparse import Csr, Pattern
from clar_tune.seeds import seed_for
from clar_tune.validation import number, whole

PAIR_BUDGET = 2_000_000
"""A node with more than ``PAIR_BUDGET / N`` partners is averaged over that many drawn ones."""

SOURCES_PER_BLOCK = 512


class MadReg(Regularizer):
    r"""MADReg of `Chen et al. (2020) <https://arxiv.org/abs/1909.03211>`_.

    .. math:: -w\, \mathrm{clamp}(\mathrm{MAD}_{remote} - \mathrm{MAD}_{near}, 0, c)

    Without c there is no limit on either side, so that a negative gap keeps its gradient.

    MAD is the mean, over nodes that have a partner, of the mean of :math:`1 - \cos(h_i, h_j)`
    over the partners j of i. Partners are near at a shortest-path length of 1 to ``near``, and
    remote from ``remote`` on, unreachable ones included.

    Args:
        weight: w.
        clamp: c, above which there is no gradient, nor below 0; ``None`` for no limits.
        near: largest order of near partners.
        remote: smallest order of remote partners.
    """

    has_penalty = True

    def __init__(
        self,
        *,
        weight: float = 0.1,
        clamp: float | None = 1.0,
        near: int = 3,
        remote: int = 8,
    ) -> None:
        super().__init__()
        self.weight, self.clamp = number("weight", weight), checked_clamp(clamp)
        self.near = whole("near", near, 1)
        self.remote = whole("remote", remote, near + 1)

    def penalty(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> Penalty | None:
        """The one term ``madgap``, if its weight is not zero; it enters the loss negatively."""
        if not self.weight:
            return None
        near, remote = graph.derived(_partners, self.near, self.remote, h.dtype)
        unit = torch.nn.functional.normalize(h, dim=1)
        gap = _mean_distance(unit, remote) - _mean_distance(unit, near)
        if self.clamp is None:
            return Penalty(-self.weight * gap, ("madgap",), gap.detach().reshape(1), UNLIMITED)
        return one_term("madgap", gap, -self.weight, self.clamp)

    def facts(self, graph: Adjacency) -> dict[str, float]:
        """Which share of all ordered node pairs is near, and which remote."""
        near, remote = graph.derived(_partners, self.near, self.remote, torch.float32)
        return {"near_share": near.share, "remote_share": remote.share}


@dataclass(frozen=True, eq=False)
class _Partners:
    """Rows that average over a node's partners."""

    mean: Csr  # [N, N]
    having: Tensor  # the nodes that have a partner
    share: float  # of all ordered pairs


def _mean_distance(unit: Tensor, partners: _Partners) -> Tensor:
    r"""MAD of unit vectors: :math:`\cos(h_i, h_j)` averaged over j is one product per node."""
    if not partners.share:
        return unit.sum() * 0.0
    distance = 1 - (unit * (partners.mean @ unit)).sum(1)
    return distance.index_select(0, partners.having).mean()


def _partners(
    graph: Adjacency, near: int, remote: int, dtype: torch.dtype
) -> tuple[_Partners, _Partners]:
    n = graph.num_nodes
    most = max(PAIR_BUDGET // n, 32)
    rng = np.random.default_rng(seed_for("madreg partners", n, len(graph.pattern.indices)))
    found: tuple[list[_Rows], list[_Rows]] = ([], [])
    for inside, outside in _balls(graph.pattern, near, remote - 1):
        found[0].append(_choose(inside, most, rng))
        found[1].append(_choose(~outside, most, rng))
    return (
        _assemble(found[0], n, dtype, graph.device),
        _assemble(found[1], n, dtype, graph.device),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Chosen partners of some consecutive nodes."""

    columns: NDArray[np.int32]
    chosen: NDArray[np.int64]  # per node
    existing: NDArray[np.int64]  # per node


def _balls(
    pattern: Pattern, inner: int, outer: int
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For blocks of nodes: who is within ``inner`` steps (but for oneself), and ``outer`` ones.

    A breadth-first search from 64 nodes at a time in each machine word: a node is reached in
    k + 1 steps if any neighbour is in k.
    """
    n = pattern.num_cols
    indptr, indices = pattern.indptr.cpu().numpy(), pattern.indices.cpu().numpy()
    joined = np.flatnonzero(np.diff(indptr))
    for first in range(0, n, SOURCES_PER_BLOCK):
        sources = np.arange(first, min(first + SOURCES_PER_BLOCK, n))
        place = np.arange(len(sources))
        reached = np.zeros((n, SOURCES_PER_BLOCK // 64), dtype=np.uint64)
        reached[sources, place // 64] = np.uint64(1) << (place % 64).astype(np.uint64)
        inside = reached
        for step in range(1, outer + 1):
            wider = reached.copy()
            if len(joined):
                wider[joined] |= np.bitwise_or.reduceat(reached[indices], indptr[joined], axis=0)
            reached = wider
            if step == inner:
                inside = reached
        near = _unpacked(inside, len(sources))
        near[place, sources] = False
        yield near, _unpacked(reached, len(sources))


def _unpacked(words: NDArray[np.uint64], sources: int) -> NDArray[np.bool_]:
    """One row per source, one column per node."""
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :sources]
    return np.ascontiguousarray(bits.T).astype(bool)


def _choose(mask: NDArray[np.bool_], most: int, rng: np.random.Generator) -> _Rows:
    """All columns of each row that are true, or ``most`` draws of them where there are more."""
    rows, columns = np.nonzero(mask)
    existing = mask.sum(axis=1)
    chosen = np.minimum(existing, most)
    start = np.cumsum(existing) - existing
    crowded = existing > most
    position = np.arange(chosen.sum()) - np.repeat(np.cumsum(chosen) - chosen, chosen)
    drawn = np.repeat(crowded, chosen)
    width = np.repeat(existing, chosen)[drawn]
    position[drawn] = (rng.random(len(width)) * width).astype(np.int64)
    return _Rows(columns[np.repeat(start, chosen) + position].astype(np.int32), chosen, existing)


def _assemble(blocks: list[_Rows], n: int, dtype: torch.dtype, device: torch.device) -> _Partners:
    chosen = np.concatenate([block.chosen for block in blocks])
    existing = np.concatenate([block.existing for block in blocks])
    indptr = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(chosen, out=indptr[1:])
    columns = np.concatenate([block.columns for block in blocks])
    weights = np.repeat(1.0 / np.maximum(chosen, 1), chosen)
    pattern = Pattern(torch.from_numpy(indptr).to(device), torch.from_numpy(columns).to(device), n)
    return _Partners(
        mean=Csr(pattern, torch.from_numpy(weights).to(device, dtype)),
        having=torch.from_numpy(np.flatnonzero(existing)).to(device),
        share=float(existing.sum() / max(n * (n - 1), 1)),
    )
