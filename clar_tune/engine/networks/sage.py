r"""GraphSAGE of Hamilton et al.: :math:`X' = D^{-1} A X W_{neighbours} + X W_{own} + b`.

Both weights stand beside each other, so that :math:`Z = X (W_{neighbours} | W_{own})`.
"""

from typing import NamedTuple

from clar_tune.engine.arrays import Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums, copy_columns
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers
from clar_tune.engine.teams import multiply_shared
from clar_tune.engine.vectors import load, store, zeros


class Sage(NamedTuple):
    r"""The mean over neighbours, :math:`D^{-1} A`."""

    operator: Operator
    every: Numbers
    nothing: Floats


@kernel
def forward(
    network: Sage,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    rows: Numbers,
    out: Floats,
    epoch: int,
) -> None:
    r"""Rows of :math:`D^{-1} A Z_{neighbours} + Z_{own} + b`."""
    width, bias = layers.outputs[layer], weights[layers.bias_at[layer] :]
    multiply_shared(
        network.operator.team, network.operator.matrix, rows, z, 2 * width, bias, width, out, width
    )
    for place in range(len(rows)):
        row = signed(rows[place])
        for column in range(0, width, 8):
            at = row * width + column
            own = load(z, (2 * row + 1) * width + column, zeros(8))
            store(out, at, load(out, at, own) + own)


@kernel
def backward(
    network: Sage,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    g: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r""":math:`\partial b = G^\top 1`, :math:`\partial Z = ((D^{-1} A)^\top G\, |\, G)`."""
    width, transposed = layers.outputs[layer], network.operator.transposed
    nodes = len(g) // width
    add_column_sums(g, nodes, width, gradient[layers.bias_at[layer] :])
    team, every, nothing = network.operator.team, network.every, network.nothing
    multiply_shared(team, transposed, every, g, width, nothing, width, dz, 2 * width)
    copy_columns(nodes, width, g, width, dz[width:], 2 * width)
