r"""A layer that sees no graph: :math:`X' = X W + b`."""

from typing import NamedTuple

from clar_tune.engine.arrays import Floats, Numbers, copy, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers, Network
from clar_tune.engine.vectors import load, store, zeros


class Mlp(NamedTuple):
    """Nothing but the layers' weights."""

    operator: Operator  # an empty one


@kernel
def forward(
    network: Network,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    rows: Numbers,
    out: Floats,
    epoch: int,
) -> None:
    """Rows of ``Z + b``."""
    width, bias = layers.outputs[layer], weights[layers.bias_at[layer] :]
    for place in range(len(rows)):
        start = signed(rows[place]) * width
        for column in range(0, width, 8):
            at = start + column
            store(out, at, load(z, at, zeros(8)) + load(bias, column, zeros(8)))


@kernel
def backward(
    network: Network,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    g: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r""":math:`\partial b = G^\top 1`, and :math:`\partial Z = G`."""
    width = layers.outputs[layer]
    add_column_sums(g, len(g) // width, width, gradient[layers.bias_at[layer] :])
    copy(g, dz)
