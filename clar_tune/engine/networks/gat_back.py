"""Back through graph attention; no weight of an edge was stored, all are computed anew."""

from typing import Any

import numpy as np

from clar_tune.engine.arrays import Csr, Floats
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums
from clar_tune.engine.networks.gat_parts import (
    SLOPE,
    Bytes,
    Gat,
    by_blocks,
    fitting,
    leaky,
    part_of,
)
from clar_tune.engine.problem import Layers
from clar_tune.engine.randomness import scale_of
from clar_tune.engine.vectors import (
    exponential,
    load,
    masked,
    repeated,
    store,
    sums,
    where_positive,
    zeros,
)


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
    part = part_of(network, layers, layer)
    add_column_sums(g, nodes, width, gradient[layers.bias_at[layer] :])
    by_blocks(_means, width, size, (g, part.sums, nodes, width, size, lanes, network.means))
    network.d_target[:] = 0
    matrix, done = network.operator.transposed, 0
    while done < nodes:
        end = fitting(matrix, network.every, done, len(network.alpha) // lanes)
        for block in range(0, heads, 8):
            _weights_back(matrix, done, end, part.source[block:], part.target[block:], lanes,
                          part.tops[block:], part.shares[block:], part.kept_back, block // 8,
                          network.dropout, network.alpha[block:],
                          network.dropped[block:])  # fmt: skip
        by_blocks(_sum_back, width, size, (matrix, done, end, z, g, width, size, network.dropped,
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
            score = leaky(own + load(target, other, own))
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
