r"""Generalised PageRank of Chien et al.: a perceptron, then :math:`\sum_k \gamma_k \hat A^k`."""

from typing import NamedTuple

import numpy as np

from clar_tune.engine.arrays import Floats, Numbers, copy, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums
from clar_tune.engine.networks import mlp
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers
from clar_tune.engine.teams import multiply_shared


class Gpr(NamedTuple):
    r"""GCN's :math:`\hat A`, and the powers :math:`P_k = \hat A^k (Z + b)` of the last pass."""

    operator: Operator
    every: Numbers
    nothing: Floats
    order: int  # K
    gamma_at: int
    powers: Floats  # [(K + 1) * N * width]
    summed: Floats  # [N * width]


@kernel
def forward(
    network: Gpr,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    rows: Numbers,
    out: Floats,
    epoch: int,
) -> None:
    r"""``Z + b``; in the last layer :math:`\sum_k \gamma_k P_k`."""
    if layer < layers.depth - 1:
        mlp.forward(network, layers, layer, weights, z, rows, out, epoch)
        return
    width, matrix, every = layers.outputs[layer], network.operator.matrix, network.every
    size = len(every) * width
    mlp.forward(network, layers, layer, weights, z, every, network.powers, epoch)
    for k in range(1, network.order + 1):
        before, made = network.powers[(k - 1) * size :], network.powers[k * size :]
        multiply_shared(
            network.operator.team,
            matrix,
            every,
            before,
            width,
            network.nothing,
            width,
            made,
            width,
        )
    gamma = weights[network.gamma_at :]
    for place in range(len(rows)):
        start = signed(rows[place]) * width
        for at in range(start, start + width):
            summed = np.float32(0)
            for k in range(network.order + 1):
                summed += gamma[k] * network.powers[k * size + at]
            out[at] = summed


@kernel
def backward(
    network: Gpr,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    g: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r""":math:`\partial\gamma_k = \langle G, P_k \rangle`, by Horner's rule the rest.

    .. math:: \partial Z = \gamma_0 G + \hat A^\top (\gamma_1 G + \hat A^\top (\gamma_2 G + \dots))
    """
    if layer < layers.depth - 1:
        mlp.backward(network, layers, layer, weights, z, g, gradient, dz)
        return
    width, size = layers.outputs[layer], len(g)
    gamma = weights[network.gamma_at :]
    dz[:size] = 0
    for k in range(network.order, -1, -1):
        product = 0.0
        for at in range(size):
            product += g[at] * network.powers[k * size + at]
        gradient[network.gamma_at + k] += np.float32(product)
        if k < network.order:
            transposed, summed = network.operator.transposed, network.summed
            multiply_shared(
                network.operator.team,
                transposed,
                network.every,
                dz,
                width,
                network.nothing,
                width,
                summed,
                width,
            )
            copy(summed[:size], dz)
        for at in range(size):
            dz[at] += gamma[k] * g[at]
    add_column_sums(dz, size // width, width, gradient[layers.bias_at[layer] :])
