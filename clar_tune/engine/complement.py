"""Node pairs that a graph does not join, drawn afresh in every epoch."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import MOST, Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.randomness import below
from clar_tune.errors import ParameterError

NODE, EDGE, ANY = range(3)

TOGETHER = 8
"""From so many draws of a node on they are looked up together, which is five times as fast."""


class Draws(NamedTuple):
    """Arrays for the draws of one epoch, and the pattern that they make."""

    starts: Numbers  # [N + 1] draws of each node
    partners: Numbers  # [draws]
    incoming_starts: Numbers  # [N + 1] who drew each node
    incoming: Numbers  # [draws]; while partners are looked up, their ranks
    stamps: NDArray[np.int64]  # [N]
    pattern: Csr  # all pairs in both directions; no values
    roots: Floats  # [N] of its inverse degrees


def draws_of(nodes: int, most: int) -> Draws:
    """Arrays for up to so many draws."""
    if 2 * most + 1 >= MOST:
        raise ParameterError(f"{most:,} draws in an epoch: take fewer samples, {MOST // 2:,} fit.")
    starts, columns = np.zeros(nodes + 1, np.uint32), np.zeros(2 * most + 1, np.uint32)
    return Draws(
        starts=np.zeros(nodes + 1, np.uint32),
        partners=np.zeros(most, np.uint32),
        incoming_starts=np.zeros(nodes + 1, np.uint32),
        incoming=np.zeros(most, np.uint32),
        stamps=np.zeros(nodes, np.int64),
        pattern=Csr(starts, columns, np.zeros(0, np.float32)),
        roots=np.zeros(nodes, np.float32),
    )


@kernel
def draw_complement(graph: Csr, sampling: int, samples: int, key: np.uint64, draws: Draws) -> None:
    """A fresh set of pairs, each in both directions and once, and the roots of its degrees.

    By ``NODE`` every node draws ``samples`` partners that it is not joined to, by ``EDGE`` every
    end of every edge, by ``ANY`` every node from all others. The k-th draw is the k-th word.
    """
    _draw(graph, sampling, samples, key, draws)
    _gather_incoming(draws)
    _join(draws)
    inverse_roots(draws.pattern.starts, draws.roots)


@kernel
def _draw(graph: Csr, sampling: int, samples: int, key: np.uint64, draws: Draws) -> None:
    nodes = len(graph.starts) - 1
    place = 0
    for node in range(nodes):
        start = signed(graph.starts[node])
        degree = signed(graph.starts[node + 1]) - start
        joined = 0 if sampling == ANY else degree
        count = samples * degree if sampling == EDGE else samples
        choices = nodes - 1 - joined
        if choices <= 0:  # nobody is left to be drawn
            count = 0
        end = place + count
        if count >= TOGETHER:
            neighbours, ranks = graph.columns[start : start + joined], draws.incoming[place:end]
            for k in range(count):
                ranks[k] = below(key, np.uint32(place + k), choices)
            _all_absent(neighbours, node, ranks, draws.partners[place:end])
        else:
            for draw in range(place, end):
                rank = below(key, np.uint32(draw), choices)
                draws.partners[draw] = _absent(graph.columns, start, joined, node, rank)
        place = end
        draws.starts[node + 1] = place


@kernel
def _absent(columns: Numbers, start: int, degree: int, node: int, rank: int) -> int:
    r"""The partner with this rank among those that a node is not joined to.

    Let its neighbours be :math:`c_0 < \dots < c_{d-1}`, numbered without the node itself. The
    r-th of the others is :math:`r + \#\{k : c_k - k \le r\}`, and since :math:`c_k - k` ascends,
    a binary search finds how many those are.
    """
    low, size = 0, degree
    while size > 0:
        half = size >> 1
        other = signed(columns[start + low + half])
        inside = other - signed(other > node) - (low + half) <= rank
        low = low + half + 1 if inside else low
        size = size - half - 1 if inside else half
    partner = rank + low
    return partner + signed(partner >= node)


@kernel
def _all_absent(neighbours: Numbers, node: int, ranks: Numbers, partners: Numbers) -> None:
    """:func:`_absent` of many ranks, all of which take each step of the search together.

    None waits for the one before it, and no step is a branch that the processor has to guess.
    """
    partners[:] = 0
    size = len(neighbours)
    while size > 0:
        half = (size + 1) >> 1
        for place in range(len(ranks)):
            k = signed(partners[place]) + half - 1
            other = signed(neighbours[k])
            before = other - signed(other > node) - k <= signed(ranks[place])
            partners[place] += np.uint32(half) * np.uint32(before)
        size -= half
    for place in range(len(ranks)):
        partner = signed(ranks[place]) + signed(partners[place])
        partners[place] = partner + signed(partner >= node)


@kernel
def _gather_incoming(draws: Draws) -> None:
    """Who drew each node; afterwards ``incoming_starts[v]`` is where those of v end."""
    starts = draws.incoming_starts
    nodes = len(starts) - 1
    starts[:] = 0
    for place in range(draws.starts[nodes]):
        starts[signed(draws.partners[place]) + 1] += np.uint32(1)
    for node in range(nodes):
        starts[node + 1] += starts[node]
    for node in range(nodes):
        for place in range(draws.starts[node], draws.starts[node + 1]):
            partner = draws.partners[place]
            draws.incoming[starts[partner]] = node
            starts[partner] += np.uint32(1)


@kernel
def _join(draws: Draws) -> None:
    """Both directions of each pair, once: a stamp tells whether a partner is there already."""
    nodes = len(draws.stamps)
    draws.stamps[:] = -1
    columns = draws.pattern.columns
    filled, first = 0, 0
    for node in range(nodes):
        for place in range(draws.starts[node], draws.starts[node + 1]):
            partner = draws.partners[place]
            columns[filled] = partner  # overwritten by the next if it was there
            filled += signed(draws.stamps[partner] != node)
            draws.stamps[partner] = node
        end = signed(draws.incoming_starts[node])
        for place in range(first, end):
            partner = draws.incoming[place]
            columns[filled] = partner
            filled += signed(draws.stamps[partner] != node)
            draws.stamps[partner] = node
        first = end
        draws.pattern.starts[node + 1] = filled


@kernel
def inverse_roots(starts: Numbers, roots: Floats) -> None:
    r""":math:`d^{-1/2}` of each row's number of entries, 0 for none.

    In 64 bits: of 32 LLVM makes a processor's own estimate, whose last bit is not the same on all,
    nor in all rows.
    """
    for row in range(len(roots)):
        degree = np.float64(starts[row + 1] - starts[row])
        roots[row] = np.float32(1 / np.sqrt(degree)) if degree > 0 else np.float32(0)
