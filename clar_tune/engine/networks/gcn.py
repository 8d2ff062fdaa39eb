r"""Graph convolution of Kipf and Welling: :math:`X' = \hat A X W + b`."""

from typing import NamedTuple

from clar_tune.engine.arrays import Floats, Numbers
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers
from clar_tune.engine.teams import multiply_shared


class Gcn(NamedTuple):
    r""":math:`\hat A = \hat D^{-1/2} (A + I) \hat D^{-1/2}`, D counting arriving edges."""

    operator: Operator
    every: Numbers
    nothing: Floats


@kernel
def forward(
    network: Gcn,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    rows: Numbers,
    out: Floats,
    epoch: int,
) -> None:
    r"""Rows of :math:`\hat A Z + b`."""
    width, bias = layers.outputs[layer], weights[layers.bias_at[layer] :]
    multiply_shared(
        network.operator.team, network.operator.matrix, rows, z, width, bias, width, out, width
    )


@kernel
def backward(
    network: Gcn,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    g: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r""":math:`\partial b = G^\top 1`, and :math:`\partial Z = \hat A^\top G`."""
    width, transposed = layers.outputs[layer], network.operator.transposed
    add_column_sums(g, len(g) // width, width, gradient[layers.bias_at[layer] :])
    multiply_shared(
        network.operator.team,
        transposed,
        network.every,
        g,
        width,
        network.nothing,
        width,
        dz,
        width,
    )
