r"""Graph attention of Velickovic et al., heads beside each other.

.. math:: x'_i = \Vert_h \sum_{j \in N(i) \cup \{i\}} \alpha^h_{ij} z^h_j + b, \qquad
          \alpha^h_{ij} = \mathrm{softmax}_j\, \mathrm{LeakyReLU}(t^h_i + s^h_j)

with :math:`s^h_j = a_s^h \cdot z^h_j` and :math:`t^h_i = a_t^h \cdot z^h_i`. Scores and weights of
an edge stand beside each other too, eight heads in a vector.
"""

from typing import Any

import numpy as np

from clar_tune.engine.arrays import Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import BLOCK
from clar_tune.engine.networks.gat_back import backward
from clar_tune.engine.networks.gat_parts import (
    Bytes,
    Gat,
    Part,
    by_blocks,
    fitting,
    leaky,
    part_of,
)
from clar_tune.engine.problem import Layers
from clar_tune.engine.randomness import (
    ATTENTION,
    PER_LAYER,
    fill_words,
    key_of,
    scale_of,
    threshold,
)
from clar_tune.engine.vectors import (
    exponential,
    inverse,
    load,
    masked,
    maximum,
    reached,
    repeated,
    store,
    sums,
    zeros,
)

__all__ = ["Gat", "backward", "forward"]


@kernel
def forward(
    network: Gat,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    rows: Numbers,
    out: Floats,
    epoch: int,
) -> None:
    """Rows of the weighted sums, plus b."""
    width, heads, lanes = layers.outputs[layer], network.heads[layer], network.lanes
    size, own = width // heads, layers.own_at[layer]
    nodes = len(network.operator.matrix.starts) - 1
    part = part_of(network, layers, layer)
    drops = epoch > 0 and network.dropout > 0
    if drops:
        _draw(network, key_of(network.seed, ATTENTION + PER_LAYER * layer, epoch), part)
    scale = scale_of(network.dropout) if drops else np.float32(1)
    by_blocks(_scores, width, size, (z, weights[own:], nodes, width, size, lanes, part.source,
                                      part.target))  # fmt: skip
    if len(rows) < nodes:
        part.shares[: nodes * lanes] = 0
    bias, matrix, done = weights[layers.bias_at[layer] :], network.operator.matrix, 0
    while done < len(rows):
        some = rows[done : fitting(matrix, rows, done, len(network.alpha) // lanes)]
        for block in range(0, heads, 8):
            _softmax(matrix, some, part.source[block:], part.target[block:], lanes, part.kept,
                     block // 8, drops, network.alpha[block:], part.tops[block:],
                     part.shares[block:])  # fmt: skip
        by_blocks(_sum, width, size, (matrix, some, z, width, size, network.alpha, lanes, scale,
                                       part.shares, bias, part.sums, out))  # fmt: skip
        done += len(some)


@kernel
def _draw(network: Gat, key: np.uint64, part: Part) -> None:
    """Dropout of weights: head h of entry e is kept by 16 bits number ``e * lanes + h``.

    Entries of the transposed matrix are met in the order in which they stand in its rows.
    """
    matrix, cursors, lanes = network.operator.matrix, network.cursors, network.lanes
    limit, bits = np.uint16(threshold(network.dropout)), network.words.view(np.uint16)
    blocks = lanes // 8
    nodes = len(matrix.starts) - 1
    for node in range(nodes):
        cursors[node] = network.operator.transposed.starts[node]
    entries = signed(matrix.starts[nodes])
    at_a_time = BLOCK // lanes
    for first in range(0, entries, at_a_time):
        count = min(at_a_time, entries - first)
        fill_words(key, first * lanes // 2, count * lanes // 2, network.words)
        for entry in range(first, first + count):
            other = signed(matrix.columns[entry])
            place = signed(cursors[other])
            cursors[other] += np.uint32(1)
            for block in range(blocks):
                kept = reached(bits, (entry - first) * lanes + 8 * block, limit)
                part.kept[entry * blocks + block] = kept
                part.kept_back[place * blocks + block] = kept


@kernel
def _scores(
    column: int,
    like: Any,
    heads: Any,
    z: Floats,
    attention: Floats,
    nodes: int,
    width: int,
    size: int,
    lanes: int,
    source: Floats,
    target: Floats,
) -> None:
    """The products of a node with both vectors of each head; that of t stands behind that of s."""
    by_source, by_target = load(attention, column, like), load(attention, width + column, like)
    head, begins = column // size, column % size == 0
    for node in range(nodes):
        at, own = node * lanes + head, load(z, node * width + column, like)
        s, t = sums(own * by_source, heads), sums(own * by_target, heads)
        store(source, at, s if begins else load(source, at, heads) + s)
        store(target, at, t if begins else load(target, at, heads) + t)


@kernel
def _softmax(
    matrix: Csr,
    rows: Numbers,
    source: Floats,
    target: Floats,
    lanes: int,
    kept: Bytes,
    block: int,
    drops: bool,
    alpha: Floats,
    tops: Floats,
    shares: Floats,
) -> None:
    """For the entries of some rows and eight heads what dropout leaves of exponentials.

    The largest score is that of the largest s, as the leaky ReLU ascends.
    """
    starts, columns, blocks, at = matrix.starts, matrix.columns, lanes // 8, 0
    for place in range(len(rows)):
        row = signed(rows[place])
        start, end = signed(starts[row]), signed(starts[row + 1])
        own = load(target, row * lanes, zeros(8))
        most = np.float32(-3e38) + zeros(8)
        for entry in range(start, end):
            most = maximum(most, load(source, columns[entry] * lanes, own))
        top = leaky(own + most)
        summed = zeros(8)
        for entry in range(start, end):
            share = exponential(leaky(own + load(source, columns[entry] * lanes, own)) - top)
            summed = summed + share
            if drops:
                share = masked(share, kept[entry * blocks + block])
            store(alpha, at, share)
            at += lanes
        store(tops, row * lanes, top)
        store(shares, row * lanes, inverse(summed))


@kernel
def _sum(
    column: int,
    like: Any,
    heads: Any,
    matrix: Csr,
    rows: Numbers,
    z: Floats,
    width: int,
    size: int,
    alpha: Floats,
    lanes: int,
    scale: np.float32,
    shares: Floats,
    bias: Floats,
    kept: Floats,
    out: Floats,
) -> None:
    """Some columns, two sums at a time."""
    starts, columns, head = matrix.starts, matrix.columns, column // size
    offset, at = load(bias, column, like), head
    for place in range(len(rows)):
        row = signed(rows[place])
        entry, end = signed(starts[row]), signed(starts[row + 1])
        even, odd = like, like
        while entry + 1 < end:
            one, two = load(alpha, at, heads), load(alpha, at + lanes, heads)
            even = even + repeated(one, like) * load(z, columns[entry] * width + column, like)
            odd = odd + repeated(two, like) * load(z, columns[entry + 1] * width + column, like)
            entry += 2
            at += 2 * lanes
        if entry < end:
            one = load(alpha, at, heads)
            even = even + repeated(one, like) * load(z, columns[entry] * width + column, like)
            at += lanes
        share = scale * load(shares, row * lanes + head, heads)
        made = repeated(share, like) * (even + odd)
        store(kept, row * width + column, made)
        store(out, row * width + column, offset + made)
