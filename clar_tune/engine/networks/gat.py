r"""Graph attention of Velickovic et al., heads beside each other.

.. math:: x'_i = \Vert_h \sum_{j \in N(i) \cup \{i\}} \alpha^h_{ij} z^h_j + b, \qquad
          \alpha^h_{ij} = \mathrm{softmax}_j\, \mathrm{LeakyReLU}(t^h_i + s^h_j)

with :math:`s^h_j = a_s^h \cdot z^h_j` and :math:`t^h_i = a_t^h \cdot z^h_i`. Scores and weights of
an edge stand beside each other too, eight heads in a vector.
"""

from typing import Any, NamedTuple

import numpy as np

from clar_tune.engine.arrays import Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums
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
    maximum,
    store,
    total,
    where_positive,
    zeros,
)

SLOPE = np.float32(0.2)
"""Negative slope of the leaky ReLU."""


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
    weights: Floats  # [depth * entries * lanes] alpha
    kept: Floats  # the same after dropout; weights itself without
    d_source: Floats  # [N * lanes]
    d_target: Floats  # [N * lanes]
    d_weights: Floats  # [entries * lanes]


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
    nodes = len(network.operator.matrix.starts) - 1
    entries = len(network.operator.matrix.columns)
    own = layers.own_at[layer]
    source = network.source[layer * nodes * lanes :]
    target = network.target[layer * nodes * lanes :]
    _scores(z, nodes, heads, width // heads, lanes, weights[own:], source)
    _scores(z, nodes, heads, width // heads, lanes, weights[own + width :], target)
    alpha = network.weights[layer * entries * lanes :]
    for block in range(0, heads, 8):
        _softmax(network.operator, rows, source[block:], target[block:], lanes, alpha[block:])
    kept = alpha
    if epoch > 0 and network.dropout > 0:
        kept = network.kept[layer * entries * lanes :]
        _drop(
            network, rows, key_of(network.seed, ATTENTION + PER_LAYER * layer, epoch), alpha, kept
        )
    size, bias = width // heads, weights[layers.bias_at[layer] :]
    for head in range(heads):
        column = 0
        while column < size:
            at = head * size + column
            if size - column >= 32:
                _sum(network.operator, rows, z[at:], width, kept[head:], lanes, bias[at:],
                     out[at:], zeros(32))  # fmt: skip
                column += 32
            else:
                _sum(network.operator, rows, z[at:], width, kept[head:], lanes, bias[at:],
                     out[at:], zeros(8))  # fmt: skip
                column += 8


@kernel
def _scores(
    z: Floats, nodes: int, heads: int, size: int, lanes: int, attention: Floats, scores: Floats
) -> None:
    """The product of each node's part of each head with the head's vector."""
    for node in range(nodes):
        for head in range(heads):
            summed = zeros(8)
            for column in range(0, size, 8):
                at = head * size + column
                part = load(z, node * heads * size + at, summed)
                summed = summed + part * load(attention, at, summed)
            scores[node * lanes + head] = total(summed)


@kernel
def _softmax(
    operator: Operator, rows: Numbers, source: Floats, target: Floats, lanes: int, alpha: Floats
) -> None:
    """The weights of eight heads."""
    starts, columns = operator.matrix.starts, operator.matrix.columns
    for place in range(len(rows)):
        row = signed(rows[place])
        own = load(target, row * lanes, zeros(8))
        top = np.float32(-3e38) + zeros(8)
        for entry in range(starts[row], starts[row + 1]):
            raw = own + load(source, columns[entry] * lanes, own)
            score = where_positive(raw, raw, SLOPE * raw)
            store(alpha, entry * lanes, score)
            top = maximum(top, score)
        summed = zeros(8)
        for entry in range(starts[row], starts[row + 1]):
            weight = exponential(load(alpha, entry * lanes, own) - top)
            store(alpha, entry * lanes, weight)
            summed = summed + weight
        share = inverse(summed)
        for entry in range(starts[row], starts[row + 1]):
            store(alpha, entry * lanes, share * load(alpha, entry * lanes, own))


@kernel
def _drop(network: Gat, rows: Numbers, key: np.uint64, alpha: Floats, kept: Floats) -> None:
    """Dropout of weights: head h of entry e is kept by 16 bits number ``e * lanes + h``."""
    limit, scale = np.uint16(threshold(network.dropout)), scale_of(network.dropout)
    starts, lanes, bits = (
        network.operator.matrix.starts,
        network.lanes,
        network.words.view(np.uint16),
    )
    for place in range(len(rows)):
        row = signed(rows[place])
        start, end = signed(starts[row]) * lanes, signed(starts[row + 1]) * lanes
        fill_words(key, start // 2, (end - start) // 2, network.words)
        for at in range(start, end):
            kept[at] = scale * alpha[at] if bits[at - start] >= limit else np.float32(0)


@kernel
def _sum(
    operator: Operator,
    rows: Numbers,
    z: Floats,
    width: int,
    kept: Floats,
    lanes: int,
    bias: Floats,
    out: Floats,
    like: Any,
) -> None:
    """Some columns of one head, two sums at a time."""
    starts, columns = operator.matrix.starts, operator.matrix.columns
    offset = load(bias, 0, like)
    for place in range(len(rows)):
        row = signed(rows[place])
        even, odd = offset, like
        entry, end = signed(starts[row]), signed(starts[row + 1])
        while entry + 1 < end:
            even = even + kept[entry * lanes] * load(z, columns[entry] * width, like)
            odd = odd + kept[(entry + 1) * lanes] * load(z, columns[entry + 1] * width, like)
            entry += 2
        if entry < end:
            even = even + kept[entry * lanes] * load(z, columns[entry] * width, like)
        store(out, row * width, even + odd)


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
    r"""Back through the sums, the softmax and the scores.

    .. math:: \partial\alpha_{ij} = g_i \cdot z_j, \quad
              \partial e_{ij} = \alpha_{ij} (\partial\alpha_{ij} - \textstyle\sum_k \alpha_{ik}
              \partial\alpha_{ik}), \quad
              \partial z_j = \sum_i \alpha_{ij} g_i + \partial s_j a_s + \partial t_j a_t

    for scores :math:`e_{ij}`, whose gradients times the slope sum to those of s and t. With
    dropout the weights that were kept take the place of :math:`\alpha` wherever it meets
    :math:`\partial\alpha`.
    """
    width, heads, lanes = layers.outputs[layer], network.heads[layer], network.lanes
    nodes, entries = len(g) // width, len(network.operator.matrix.columns)
    size, own = width // heads, layers.own_at[layer]
    source = network.source[layer * nodes * lanes :]
    target = network.target[layer * nodes * lanes :]
    alpha = network.weights[layer * entries * lanes :]
    kept = network.kept[layer * entries * lanes :] if network.dropout > 0 else alpha
    operator, d_weights = network.operator, network.d_weights
    add_column_sums(g, nodes, width, gradient[layers.bias_at[layer] :])
    dz[:] = 0
    d_weights[:] = 0
    network.d_source[:] = 0
    for head in range(heads):
        column = 0
        while column < size:
            at = head * size + column
            if size - column >= 32:
                _sum_back(operator, z[at:], g[at:], width, kept[head:], lanes,
                          d_weights[head:], dz[at:], zeros(32))  # fmt: skip
                column += 32
            else:
                _sum_back(operator, z[at:], g[at:], width, kept[head:], lanes,
                          d_weights[head:], dz[at:], zeros(8))  # fmt: skip
                column += 8
    for block in range(0, heads, 8):
        _softmax_back(operator, source[block:], target[block:], lanes, alpha[block:],
                      kept[block:], d_weights[block:], network.d_source[block:],
                      network.d_target[block:])  # fmt: skip
    _scores_back(z, nodes, heads, size, lanes, weights[own:], network.d_source,
                 gradient[own:], dz)  # fmt: skip
    _scores_back(z, nodes, heads, size, lanes, weights[own + width :], network.d_target,
                 gradient[own + width :], dz)  # fmt: skip


@kernel
def _sum_back(
    operator: Operator,
    z: Floats,
    g: Floats,
    width: int,
    kept: Floats,
    lanes: int,
    d_weights: Floats,
    dz: Floats,
    like: Any,
) -> None:
    """Some columns of one head."""
    starts, columns = operator.matrix.starts, operator.matrix.columns
    for row in range(len(starts) - 1):
        own = load(g, row * width, like)
        for entry in range(starts[row], starts[row + 1]):
            at = columns[entry] * width
            d_weights[entry * lanes] += total(own * load(z, at, like))
            store(dz, at, load(dz, at, like) + kept[entry * lanes] * own)


@kernel
def _softmax_back(
    operator: Operator,
    source: Floats,
    target: Floats,
    lanes: int,
    alpha: Floats,
    kept: Floats,
    d_weights: Floats,
    d_source: Floats,
    d_target: Floats,
) -> None:
    """Eight heads: from gradients of weights to those of s and t."""
    starts, columns = operator.matrix.starts, operator.matrix.columns
    one = np.float32(1) + zeros(8)
    for row in range(len(starts) - 1):
        mean, d_own = zeros(8), zeros(8)
        for entry in range(starts[row], starts[row + 1]):
            at = entry * lanes
            product = load(kept, at, mean) * load(d_weights, at, mean)
            store(d_weights, at, product)
            mean = mean + product
        own = load(target, row * lanes, mean)
        for entry in range(starts[row], starts[row + 1]):
            at, other = entry * lanes, columns[entry] * lanes
            raw = own + load(source, other, mean)
            d_raw = load(d_weights, at, mean) - load(alpha, at, mean) * mean
            d_raw = d_raw * where_positive(raw, one, SLOPE * one)
            store(d_source, other, load(d_source, other, mean) + d_raw)
            d_own = d_own + d_raw
        store(d_target, row * lanes, d_own)


@kernel
def _scores_back(
    z: Floats,
    nodes: int,
    heads: int,
    size: int,
    lanes: int,
    attention: Floats,
    d_scores: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r"""Back through :math:`s_j = a \cdot z_j`.

    To :math:`\partial z_j` comes :math:`\partial s_j a`, to :math:`\partial a` the sum of all
    :math:`\partial s_j z_j`.
    """
    for head in range(heads):
        for column in range(0, size, 8):
            at = head * size + column
            vector, summed = load(attention, at, zeros(8)), zeros(8)
            for node in range(nodes):
                place, d = node * heads * size + at, d_scores[node * lanes + head]
                summed = summed + d * load(z, place, summed)
                store(dz, place, load(dz, place, summed) + d * vector)
            store(gradient, at, load(gradient, at, summed) + summed)
