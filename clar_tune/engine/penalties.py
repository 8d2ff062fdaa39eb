"""What regularizers add to the loss, and the gradient of it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Csr, Floats, Numbers
from clar_tune.engine.compiling import kernel
from clar_tune.engine.complement import Draws, draw_complement
from clar_tune.engine.laplacian import released, trace
from clar_tune.engine.madreg import half_product, through_lengths, unit_vectors
from clar_tune.engine.preg import cross_smoothed, squared_change
from clar_tune.engine.problem import Data, Layers, Rules, Work
from clar_tune.engine.randomness import COMPLEMENT, key_of
from clar_tune.engine.sparse import multiply

NONE, CLAR, PREG, MADREG = range(4)
TRACE, NODE_MEAN, RELEASED = range(3)


class Penalty(NamedTuple):
    """The terms of a penalty, their weights and what they are taken of."""

    kind: int
    values: NDArray[np.float64]  # [terms] of the last epoch, before clamp and weight
    best: NDArray[np.float64]  # [terms] of the selected epoch
    active: NDArray[np.int64]  # [terms] epochs in which a term had a gradient
    above: NDArray[np.int64]  # [terms] epochs in which it stood above its clamp
    zero: NDArray[np.int64]  # [terms] epochs in which it was zero
    weights: NDArray[np.float64]  # [terms]
    complement: bool  # whether the first term is that of the complement
    clamp: float  # infinity for none
    rounding: float  # how large a value may be that would be zero but for rounding
    reduction: int
    sampling: int
    samples: int
    graph: Csr  # [N, N] the undirected graph
    roots: Floats  # [N] of its inverse degrees
    draws: Draws
    y: Floats  # [N * width], as the next two
    smoothed: Floats
    spread: Floats
    every: Numbers
    nothing: Floats
    crossed: bool  # preg's form ce
    floor: float  # values below have no gradient
    offset: float  # madreg's constant


@kernel
def add_penalty(
    penalty: Penalty, layers: Layers, data: Data, rules: Rules, epoch: int, work: Work
) -> float:
    """The sum of all weighted terms; its gradient is added to that of the outputs."""
    loss = 0.0
    if penalty.kind == CLAR:
        loss = _clar(penalty, layers, rules, epoch, work)
    elif penalty.kind == PREG:
        loss = _preg(penalty, layers, data, work)
    elif penalty.kind == MADREG:
        loss = _madreg(penalty, layers, work)
    return loss


@kernel
def _clar(penalty: Penalty, layers: Layers, rules: Rules, epoch: int, work: Work) -> float:
    r""":math:`\beta\,\mathrm{clamp}(r(L_{com}), 0, c) + \alpha\,\mathrm{clamp}(r(L_{ori}), 0, c)`.

    :math:`L_{ori}` is the energy on the graph, :math:`L_{com}` on pairs of its complement.
    """
    width = layers.outputs[layers.depth - 1]
    nodes = len(penalty.roots)
    scale = 1.0 / nodes if penalty.reduction == NODE_MEAN else 1.0
    loss = 0.0
    for term in range(len(penalty.weights)):
        pattern, roots = penalty.graph, penalty.roots
        if term == 0 and penalty.complement:
            key = key_of(rules.seed, COMPLEMENT, epoch)
            draw_complement(penalty.graph, penalty.sampling, penalty.samples, key, penalty.draws)
            pattern, roots = penalty.draws.pattern, penalty.draws.roots
        if penalty.reduction == RELEASED:
            value = released(pattern, roots, work.outputs, width, penalty.y)
        else:
            value = scale * trace(pattern, roots, work.outputs, width, penalty.y)
        loss += add_term(penalty, term, value, 2 * scale, work.d_outputs)
    return loss


@kernel
def _preg(penalty: Penalty, layers: Layers, data: Data, work: Work) -> float:
    """P-reg, with the undirected graph's smoothing in ``penalty.graph``."""
    width, nodes = layers.outputs[layers.depth - 1], len(penalty.every)
    y, smoothed, spread = penalty.y, penalty.smoothed, penalty.spread
    matrix, every, nothing = penalty.graph, penalty.every, penalty.nothing
    multiply(matrix, every, work.outputs, width, nothing, width, smoothed, width)
    if penalty.crossed:
        value = cross_smoothed(work.outputs, data.outputs, width, smoothed, y) / nodes
        multiply(matrix, every, smoothed, width, nothing, width, spread, width)
        for place in range(len(y)):
            y[place] += spread[place]
    else:
        value = squared_change(work.outputs, smoothed) / (2 * nodes)
        multiply(matrix, every, smoothed, width, nothing, width, y, width)
        for place in range(len(y)):
            y[place] -= smoothed[place]
    return add_term(penalty, 0, value, 1.0 / nodes, work.d_outputs)


@kernel
def _madreg(penalty: Penalty, layers: Layers, work: Work) -> float:
    """MADReg, with the contrast of its partners in ``penalty.graph``."""
    width, unit, spread = layers.outputs[layers.depth - 1], penalty.smoothed, penalty.spread
    unit_vectors(work.outputs, width, unit)
    multiply(penalty.graph, penalty.every, unit, width, penalty.nothing, width, spread, width)
    value = penalty.offset + half_product(unit, spread)
    through_lengths(work.outputs, unit, width, spread, penalty.y)
    return add_term(penalty, 0, value, 1.0, work.d_outputs)


@kernel
def add_term(penalty: Penalty, term: int, value: float, scale: float, gradient: Floats) -> float:
    """``w * clamp(value, floor, c)``; ``w * scale * y`` to the gradient where it has one."""
    weight: float = penalty.weights[term]
    penalty.values[term] = value
    penalty.active[term] += penalty.floor < value <= penalty.clamp
    penalty.above[term] += value > penalty.clamp
    penalty.zero[term] += value <= penalty.floor or abs(value) <= penalty.rounding
    if value < penalty.floor:
        return weight * penalty.floor
    if value > penalty.clamp:
        return weight * penalty.clamp
    factor = np.float32(weight * scale)
    for place in range(len(gradient)):
        gradient[place] += factor * penalty.y[place]
    return weight * value
