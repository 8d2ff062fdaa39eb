"""Partners of nodes by the lengths of shortest paths: near ones, and remote ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.seeds import seed_for

PAIR_BUDGET = 2_000_000
"""A node with more than ``PAIR_BUDGET / N`` partners is averaged over that many drawn ones."""

SOURCES_PER_BLOCK = 512


class Partners(NamedTuple):
    """Rows that average over a node's partners; a drawn partner may stand in a row twice."""

    starts: NDArray[np.int32]  # [N + 1]
    columns: NDArray[np.int32]  # [entries]
    weights: NDArray[np.float64]  # [entries]
    having: NDArray[np.int64]  # the nodes that have a partner
    share: float  # of all ordered pairs


def partners_of(
    starts: NDArray[np.int32], columns: NDArray[np.int32], near: int, remote: int
) -> tuple[Partners, Partners]:
    """Partners at 1 to ``near`` steps, and those from ``remote`` on, unreachable ones included.

    ``starts`` and ``columns`` are the neighbours of each node of an undirected graph.
    """
    n = len(starts) - 1
    most = max(PAIR_BUDGET // n, 32)
    rng = np.random.default_rng(seed_for("madreg partners", n, len(columns)))
    found: tuple[list[_Rows], list[_Rows]] = ([], [])
    for inside, outside in _balls(starts, columns, near, remote - 1):
        found[0].append(_choose(inside, most, rng))
        found[1].append(_choose(~outside, most, rng))
    return _assemble(found[0], n), _assemble(found[1], n)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Chosen partners of some consecutive nodes."""

    columns: NDArray[np.int32]
    chosen: NDArray[np.int64]  # per node
    existing: NDArray[np.int64]  # per node


def _balls(
    starts: NDArray[np.int32], columns: NDArray[np.int32], inner: int, outer: int
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For blocks of nodes: who is within ``inner`` steps (but for oneself), and ``outer`` ones.

    A breadth-first search from 64 nodes at a time in each machine word: a node is reached in
    k + 1 steps if any neighbour is in k.
    """
    n = len(starts) - 1
    joined = np.flatnonzero(np.diff(starts))
    for first in range(0, n, SOURCES_PER_BLOCK):
        sources = np.arange(first, min(first + SOURCES_PER_BLOCK, n))
        place = np.arange(len(sources))
        reached = np.zeros((n, SOURCES_PER_BLOCK // 64), dtype=np.uint64)
        reached[sources, place // 64] = np.uint64(1) << (place % 64).astype(np.uint64)
        inside = reached
        for step in range(1, outer + 1):
            wider = reached.copy()
            if len(joined):
                wider[joined] |= np.bitwise_or.reduceat(reached[columns], starts[joined], axis=0)
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


def _assemble(blocks: list[_Rows], n: int) -> Partners:
    chosen = np.concatenate([block.chosen for block in blocks])
    existing = np.concatenate([block.existing for block in blocks])
    starts = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(chosen, out=starts[1:])
    weights = np.repeat(1.0 / np.maximum(chosen, 1), chosen)
    return Partners(
        starts=starts,
        columns=np.concatenate([block.columns for block in blocks]),
        weights=weights,
        having=np.flatnonzero(existing),
        share=float(existing.sum() / max(n * (n - 1), 1)),
    )
