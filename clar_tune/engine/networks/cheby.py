r"""Chebyshev filter of Defferrard et al.: :math:`X' = \sum_{k=0}^{K} T_k(\hat L) X W_k + b`.

:math:`\hat L = -\tilde A` for :math:`\tilde A = D^{-1/2} A D^{-1/2}` and
:math:`\lambda_{max} = 2`. The weights stand beside each other: :math:`Z = X (W_0 | \dots | W_K)`.
"""

from typing import NamedTuple

import numpy as np

from clar_tune.engine.arrays import Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.dense import add_column_sums
from clar_tune.engine.operator import Operator
from clar_tune.engine.problem import Layers
from clar_tune.engine.sparse import multiply


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
    stride, matrix = layers.mapped[layer], network.operator.matrix
    later, current, product = network.later, network.current, network.product
    later[:] = 0
    current[:] = 0
    for k in range(network.order, 0, -1):
        multiply(matrix, network.every, current, width, network.nothing, width, product, width)
        for row in range(len(network.every)):
            for column in range(width):
                at = row * width + column
                own = z[row * stride + k * width + column]
                product[at] = own - np.float32(2) * product[at] - later[at]
        later, current, product = current, product, later
    multiply(matrix, rows, current, width, network.nothing, width, product, width)
    for place in range(len(rows)):
        row = signed(rows[place])
        for column in range(width):
            at = row * width + column
            out[at] = z[row * stride + column] - product[at] - later[at] + bias[column]


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
    for row in range(nodes):
        for column in range(width):
            dz[row * stride + column] = g[row * width + column]
    for k in range(1, network.order + 1):
        before, made = dz[(k - 1) * width :], dz[k * width :]
        multiply(transposed, network.every, before, stride, network.nothing, width, made, stride)
        for row in range(nodes):
            for column in range(width):
                at = row * stride + column
                if k == 1:
                    made[at] = -made[at]
                else:
                    made[at] = np.float32(-2) * made[at] - dz[at + (k - 2) * width]
