"""What both passes of graph attention share: the record, its parts, and how columns are cut."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers, Places
from clar_tune.engine.vectors import where_positive, zeros

SLOPE = np.float32(0.2)
"""Negative slope of the leaky ReLU."""

Bytes = NDArray[np.uint8]
"""Eight bits, one for each of eight heads: whether dropout keeps it."""


class Gat(NamedTuple):
    """The graph with self-loops, and what the last pass leaves for the one back."""

    operator: Operator
    heads: Places  # [depth]
    lanes: int  # heads, padded
    dropout: float  # of attention
    seed: np.uint64
    words: Numbers
    source: Floats  # [depth * N * lanes] the scores s
    target: Floats  # [depth * N * lanes] the scores t
    tops: Floats  # [depth * N * lanes] the largest scores of edges to a node
    shares: Floats  # [depth * N * lanes] 1 / sum of exponentials, 0 for rows that were not needed
    sums: Floats  # [all outputs] outputs without b
    kept: Bytes  # [depth * entries * lanes / 8]
    kept_back: Bytes  # the same by entries of the transposed matrix
    cursors: Numbers  # [N]
    every: Numbers
    alpha: Floats  # [entries at a time * lanes], as the next two
    dropped: Floats
    products: Floats
    d_source: Floats  # [N * lanes]
    d_target: Floats  # [N * lanes]
    means: Floats  # [N * lanes]


class Part(NamedTuple):
    """What a pass of one layer leaves for the one back."""

    source: Floats
    target: Floats
    tops: Floats
    shares: Floats
    sums: Floats
    kept: Bytes
    kept_back: Bytes


@kernel
def fitting(matrix: Csr, rows: Numbers, first: int, most: int) -> int:
    """Where those rows end that have at most so many entries together; it is at least one row."""
    left, place = most, first
    while place < len(rows):
        row = signed(rows[place])
        left -= signed(matrix.starts[row + 1]) - signed(matrix.starts[row])
        if left < 0 and place > first:
            break
        place += 1
    return place


@kernel
def part_of(network: Gat, layers: Layers, layer: int) -> Part:
    """Where the parts of a layer begin."""
    nodes = len(network.operator.matrix.starts) - 1
    first, edge = layer * nodes * network.lanes, layer * len(network.kept) // layers.depth
    return Part(
        network.source[first:],
        network.target[first:],
        network.tops[first:],
        network.shares[first:],
        network.sums[layers.hidden_at[layer] :],
        network.kept[edge:],
        network.kept_back[edge:],
    )


@kernel
def by_blocks(function: Any, width: int, size: int, arguments: Any) -> None:
    """Call a function for some columns at a time: those of four heads, eight or a part of one.

    It gets the first column, a vector as wide as the columns and one with a lane for each head.
    """
    column = 0
    while column < width:
        if size == 32 and width - column >= 128:
            function(column, zeros(128), zeros(4), *arguments)
            column += 128
        elif size == 8 and width - column >= 64:
            function(column, zeros(64), zeros(8), *arguments)
            column += 64
        elif size - column % size >= 32:
            function(column, zeros(32), zeros(1), *arguments)
            column += 32
        else:
            function(column, zeros(8), zeros(1), *arguments)
            column += 8


@kernel
def leaky(score: Any) -> Any:
    """The leaky ReLU."""
    return where_positive(score, score, SLOPE * score)
