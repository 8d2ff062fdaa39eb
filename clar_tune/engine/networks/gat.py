r"""Graph attention of Velickovic et al., heads beside each other.

.. math:: x'_i = \Vert_h \sum_{j \in N(i) \cup \{i\}} \alpha^h_{ij} z^h_j + b, \qquad
          \alpha^h_{ij} = \mathrm{softmax}_j\, \mathrm{LeakyReLU}(t^h_i + s^h_j)

with :math:`s^h_j = a_s^h \cdot z^h_j` and :math:`t^h_i = a_t^h \cdot z^h_i`. Scores and weights of
an edge stand beside each other too, eight heads in a vector.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import BLOCK, add_column_sums
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers, Places
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
    where_positive,
    zeros,
)

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


class _Part(NamedTuple):
    """What a pass of one layer leaves for the one back."""

    source: Floats
    target: Floats
    tops: Floats
    shares: Floats
    sums: Floats
    kept: Bytes
    kept_back: Bytes


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
    part = _part(network, layers, layer)
    drops = epoch > 0 and network.dropout > 0
    if drops:
        _draw(network, key_of(network.seed, ATTENTION + PER_LAYER * layer, epoch), part)
    scale = scale_of(network.dropout) if drops else np.float32(1)
    _by_blocks(_scores, width, size, (z, weights[own:], nodes, width, size, lanes, part.source,
                                      part.target))  # fmt: skip
    if len(rows) < nodes:
        part.shares[: nodes * lanes] = 0
    bias, matrix, done = weights[layers.bias_at[layer] :], network.operator.matrix, 0
    while done < len(rows):
        some = rows[done : _fitting(matrix, rows, done, len(network.alpha) // lanes)]
        for block in range(0, heads, 8):
            _softmax(matrix, some, part.source[block:], part.target[block:], lanes, part.kept,
                     block // 8, drops, network.alpha[block:], part.tops[block:],
                     part.shares[block:])  # fmt: skip
        _by_blocks(_sum, width, size, (matrix, some, z, width, size, network.alpha, lanes, scale,
                                       part.shares, bias, part.sums, out))  # fmt: skip
        done += len(some)


@kernel
def _fitting(matrix: Csr, rows: Numbers, first: int, most: int) -> int:
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
def _part(network: Gat, layers: Layers, layer: int) -> _Part:
    nodes = len(network.operator.matrix.starts) - 1
    first, edge = layer * nodes * network.lanes, layer * len(network.kept) // layers.depth
    return _Part(
        network.source[first:],
        network.target[first:],
        network.tops[first:],
        network.shares[first:],
        network.sums[layers.hidden_at[layer] :],
        network.kept[edge:],
        network.kept_back[edge:],
    )


@kernel
def _by_blocks(function: Any, width: int, size: int, arguments: Any) -> None:
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
def _draw(network: Gat, key: np.uint64, part: _Part) -> None:
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
        top = _leaky(own + most)
        summed = zeros(8)
        for entry in range(start, end):
            share = exponential(_leaky(own + load(source, columns[entry] * lanes, own)) - top)
            summed = summed + share
            if drops:
                share = masked(share, kept[entry * blocks + block])
            store(alpha, at, share)
            at += lanes
        store(tops, row * lanes, top)
        store(shares, row * lanes, inverse(summed))


@kernel
def _leaky(score: Any) -> Any:
    return where_positive(score, score, SLOPE * score)


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


@kernel
def backward(
    network: Gat,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    g: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r"""Back through the sums, the softmax and the scores, for each node over the edges from it.

    .. math:: \partial\alpha_{ij} = g_i \cdot z_j, \quad
              \partial e_{ij} = \alpha_{ij} (\partial\alpha_{ij} - g_i \cdot (x'_i - b)), \quad
              \partial z_j = \sum_i \alpha_{ij} g_i + \partial s_j a_s + \partial t_j a_t

    for scores :math:`e_{ij}`, whose gradients times the slope sum to those of s and t; and
    :math:`g_i \cdot (x'_i - b) = \sum_k \alpha_{ik} \partial\alpha_{ik}`. With dropout the weights
    that were kept take the place of :math:`\alpha` wherever it meets :math:`\partial\alpha`. No
    weight was stored: they are computed anew.
    """
    width, heads, lanes = layers.outputs[layer], network.heads[layer], network.lanes
    nodes, size, own = len(g) // width, width // heads, layers.own_at[layer]
    part = _part(network, layers, layer)
    add_column_sums(g, nodes, width, gradient[layers.bias_at[layer] :])
    _by_blocks(_means, width, size, (g, part.sums, nodes, width, size, lanes, network.means))
    network.d_target[:] = 0
    matrix, done = network.operator.transposed, 0
    while done < nodes:
        end = _fitting(matrix, network.every, done, len(network.alpha) // lanes)
        for block in range(0, heads, 8):
            _weights_back(matrix, done, end, part.source[block:], part.target[block:], lanes,
                          part.tops[block:], part.shares[block:], part.kept_back, block // 8,
                          network.dropout, network.alpha[block:],
                          network.dropped[block:])  # fmt: skip
        _by_blocks(_sum_back, width, size, (matrix, done, end, z, g, width, size, network.dropped,
                                            lanes, network.products, dz))  # fmt: skip
        for block in range(0, heads, 8):
            _softmax_back(matrix, done, end, part.source[block:], part.target[block:], lanes,
                          network.alpha[block:], network.dropped[block:],
                          network.products[block:], network.means[block:],
                          network.d_source[block:], network.d_target[block:])  # fmt: skip
        done = end
    column = 0
    while column < width:
        at = own + column
        if size - column % size >= 32:
            _scores_back(network.d_source, network.d_target, column, nodes, width, size, lanes,
                         weights[at:], z, gradient[at:], dz, zeros(32))  # fmt: skip
            column += 32
        else:
            _scores_back(network.d_source, network.d_target, column, nodes, width, size, lanes,
                         weights[at:], z, gradient[at:], dz, zeros(8))  # fmt: skip
            column += 8


@kernel
def _means(
    column: int,
    like: Any,
    heads: Any,
    g: Floats,
    kept: Floats,
    nodes: int,
    width: int,
    size: int,
    lanes: int,
    means: Floats,
) -> None:
    r"""For each head :math:`g_i \cdot (x'_i - b)`."""
    head, begins = column // size, column % size == 0
    for node in range(nodes):
        at, place = node * lanes + head, node * width + column
        product = sums(load(g, place, like) * load(kept, place, like), heads)
        store(means, at, product if begins else load(means, at, heads) + product)


@kernel
def _weights_back(
    matrix: Csr,
    first: int,
    last: int,
    source: Floats,
    target: Floats,
    lanes: int,
    tops: Floats,
    shares: Floats,
    kept: Bytes,
    block: int,
    dropout: float,
    alpha: Floats,
    dropped: Floats,
) -> None:
    """Weights of the edges from some nodes for eight heads, before and after dropout."""
    starts, columns, blocks, at = matrix.starts, matrix.columns, lanes // 8, 0
    scale = scale_of(dropout)
    for node in range(first, last):
        own = load(source, node * lanes, zeros(8))
        for entry in range(starts[node], starts[node + 1]):
            other = columns[entry] * lanes
            score = _leaky(own + load(target, other, own))
            weight = load(shares, other, own) * exponential(score - load(tops, other, own))
            store(alpha, at, weight)
            if dropout > 0:
                weight = scale * masked(weight, kept[entry * blocks + block])
            store(dropped, at, weight)
            at += lanes


@kernel
def _sum_back(
    column: int,
    like: Any,
    heads: Any,
    matrix: Csr,
    first: int,
    last: int,
    z: Floats,
    g: Floats,
    width: int,
    size: int,
    dropped: Floats,
    lanes: int,
    products: Floats,
    dz: Floats,
) -> None:
    """Some columns: sums of gradients, and what they add to the products."""
    starts, columns = matrix.starts, matrix.columns
    at, begins = column // size, column % size == 0
    for node in range(first, last):
        own, made = load(z, node * width + column, like), like
        for entry in range(starts[node], starts[node + 1]):
            d = load(g, columns[entry] * width + column, like)
            product = sums(own * d, heads)
            store(products, at, product if begins else load(products, at, heads) + product)
            made = made + repeated(load(dropped, at, heads), like) * d
            at += lanes
        store(dz, node * width + column, made)


@kernel
def _softmax_back(
    matrix: Csr,
    first: int,
    last: int,
    source: Floats,
    target: Floats,
    lanes: int,
    alpha: Floats,
    dropped: Floats,
    products: Floats,
    means: Floats,
    d_source: Floats,
    d_target: Floats,
) -> None:
    """From gradients of weights to those of s and t, for eight heads."""
    starts, columns, at = matrix.starts, matrix.columns, 0
    one = np.float32(1) + zeros(8)
    for node in range(first, last):
        own, d_own = load(source, node * lanes, one), zeros(8)
        for entry in range(starts[node], starts[node + 1]):
            other = columns[entry] * lanes
            raw = own + load(target, other, one)
            product = load(dropped, at, one) * load(products, at, one)
            d = product - load(alpha, at, one) * load(means, other, one)
            d = d * where_positive(raw, one, SLOPE * one)
            store(d_target, other, load(d_target, other, one) + d)
            d_own = d_own + d
            at += lanes
        store(d_source, node * lanes, d_own)


@kernel
def _scores_back(
    d_source: Floats,
    d_target: Floats,
    column: int,
    nodes: int,
    width: int,
    size: int,
    lanes: int,
    attention: Floats,
    z: Floats,
    gradient: Floats,
    dz: Floats,
    like: Any,
) -> None:
    r"""Back through :math:`s_j = a_s \cdot z_j` and :math:`t_j = a_t \cdot z_j`, some columns.

    To :math:`\partial z_j` comes :math:`\partial s_j a_s`, to :math:`\partial a_s` the sum of all
    :math:`\partial s_j z_j`; for t alike, whose vector stands behind that of s.
    """
    by_source, by_target = load(attention, 0, like), load(attention, width, like)
    source, target, head = like, like, column // size
    for node in range(nodes):
        place = node * width + column
        ds, dt = d_source[node * lanes + head], d_target[node * lanes + head]
        own = load(z, place, like)
        source, target = source + ds * own, target + dt * own
        store(dz, place, load(dz, place, like) + ds * by_source + dt * by_target)
    store(gradient, 0, load(gradient, 0, like) + source)
    store(gradient, width, load(gradient, width, like) + target)
