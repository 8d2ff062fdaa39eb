r"""Chebyshev filter of Defferrard et al.: :math:`X' = \sum_{k=0}^{K} T_k(\hat L) X W_k + b`.

:math:`\hat L = -\tilde A` for :math:`\tilde A = D^{-1/2} A D^{-1/2}` and
:math:`\lambda_{max} = 2`. The weights stand beside each other: :math:`Z = X (W_0 | \dots | W_K)`.
"""

from typing import NamedTuple

import numpy as np

from clar_tune.engine.arrays import Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums, copy_columns
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers
from clar_tune.engine.teams import multiply_shared
from clar_tune.engine.vectors import load, store, zeros


class Cheby(NamedTuple):
    r""":math:`\tilde A`, D counting the edges that leave, as torch-geometric's ChebConv does."""

    operator: Operator
    every: Numbers
    nothing: Floats
    order: int  # K
    later: Floats  # [N * width], as the next two
    current: Floats
    product: Floats


@kernel
def forward(
    network: Cheby,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    rows: Numbers,
    out: Floats,
    epoch: int,
) -> None:
    r"""Rows of the sum, by Clenshaw's recurrence.

    .. math:: B_k = Z_k - 2 \tilde A B_{k+1} - B_{k+2}, \qquad
              X' = Z_0 - \tilde A B_1 - B_2 + b
    """
    width, bias = layers.outputs[layer], weights[layers.bias_at[layer] :]
    stride, matrix, order = layers.mapped[layer], network.operator.matrix, network.order
    every, nothing, team = network.every, network.nothing, network.operator.team
    later, current, product = network.later, network.current, network.product
    later[:] = 0
    current[:] = 0
    if order > 0:
        copy_columns(len(every), width, z[order * width :], stride, current, width)
    for k in range(order - 1, 0, -1):
        multiply_shared(team, matrix, every, current, width, nothing, width, product, width)
        _combine(every, width, z[k * width :], stride, -2.0, product, later, width, nothing,
                 product, width)  # fmt: skip
        later, current, product = current, product, later
    multiply_shared(team, matrix, rows, current, width, nothing, width, product, width)
    _combine(rows, width, z, stride, -1.0, product, later, width, bias, out, width)


@kernel
def _combine(
    rows: Numbers,
    width: int,
    z: Floats,
    z_stride: int,
    factor: float,
    product: Floats,
    later: Floats,
    later_stride: int,
    bias: Floats,
    out: Floats,
    stride: int,
) -> None:
    """Rows of ``Z + factor * product - later + b``; the product is as wide as what is made."""
    scale = np.float32(factor)
    for place in range(len(rows)):
        row = signed(rows[place])
        for column in range(0, width, 8):
            at = row * stride + column
            own = load(z, row * z_stride + column, zeros(8)) + load(bias, column, zeros(8))
            rest = own - load(later, row * later_stride + column, own)
            store(out, at, rest + scale * load(product, at, own))


@kernel
def backward(
    network: Cheby,
    layers: Layers,
    layer: int,
    weights: Floats,
    z: Floats,
    g: Floats,
    gradient: Floats,
    dz: Floats,
) -> None:
    r""":math:`\partial b = G^\top 1`, :math:`\partial Z_k = T_k(-\tilde A^\top) G`.

    .. math:: \partial Z_0 = G, \quad \partial Z_1 = -\tilde A^\top G, \quad
              \partial Z_k = -2 \tilde A^\top \partial Z_{k-1} - \partial Z_{k-2}
    """
    width, stride = layers.outputs[layer], layers.mapped[layer]
    nodes, transposed = len(g) // width, network.operator.transposed
    add_column_sums(g, nodes, width, gradient[layers.bias_at[layer] :])
    copy_columns(nodes, width, g, width, dz, stride)
    every, nothing, later, later_stride = network.every, network.nothing, network.nothing, 0
    for k in range(1, network.order + 1):
        before, made = dz[(k - 1) * width :], dz[k * width :]
        multiply_shared(
            network.operator.team, transposed, every, before, stride, nothing, width, made, stride
        )
        factor = -1.0 if k == 1 else -2.0
        _combine(
            every, width, nothing, 0, factor, made, later, later_stride, nothing, made, stride
        )
        later, later_stride = before, stride
