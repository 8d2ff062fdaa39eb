r"""MADReg: how much further apart remote partners are than near ones, by cosine distance.

With unit vectors :math:`u_i = h_i / \lVert h_i \rVert` and M the rows that average over a node's
partners, the mean distance is :math:`1 - \tfrac{1}{|V|} \sum_i u_i \cdot (M u)_i` over the nodes V
that have a partner. The gap between remote and near ones is
:math:`c + \tfrac12 \sum_i u_i \cdot (B u)_i` for one symmetric matrix B, see :class:`Contrast`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from clar_tune.engine.arrays import Csr, Floats, csr_of
from clar_tune.engine.compiling import kernel
from clar_tune.graphs import Partners, partners_of

SMALLEST = np.float32(1e-12)
"""Vectors are divided by their length or, if that is less, by this."""


@dataclass(frozen=True, eq=False)
class Contrast:
    r""":math:`B = \tfrac{1}{|V|}(M + M^\top)` of near partners less that of remote ones.

    ``offset`` is c: 1 for remote partners less 1 for near ones, 0 where there are none.
    """

    matrix: Csr  # [N, N]
    offset: float
    near_share: float
    remote_share: float

    @staticmethod
    def of(graph: sp.csr_array, near: int, remote: int) -> "Contrast":
        """The contrast of an undirected graph."""
        close, far = partners_of(graph.indptr, graph.indices, near, remote)
        matrix = csr_of(sp.csr_array(_both_ways(close) - _both_ways(far)))
        offset = float(bool(far.share)) - float(bool(close.share))
        return Contrast(matrix, offset, close.share, far.share)


def _both_ways(partners: Partners) -> sp.csr_array:
    size = len(partners.starts) - 1
    mean = sp.csr_array((partners.weights, partners.columns, partners.starts), shape=(size, size))
    mean.sum_duplicates()
    return sp.csr_array((mean + mean.T) / max(len(partners.having), 1))


@kernel
def unit_vectors(h: Floats, width: int, unit: Floats) -> None:
    """Each row divided by its length."""
    for start in range(0, len(h), width):
        length = max(_length(h, start, width), SMALLEST)
        for place in range(start, start + width):
            unit[place] = h[place] / length


@kernel
def half_product(unit: Floats, spread: Floats) -> float:
    r""":math:`\tfrac12 \sum_i u_i \cdot (B u)_i`, ``spread`` being :math:`B u`, its gradient."""
    summed = 0.0
    for place in range(len(unit)):
        summed += np.float64(unit[place]) * np.float64(spread[place])
    return 0.5 * summed


@kernel
def through_lengths(h: Floats, unit: Floats, width: int, gradient: Floats, y: Floats) -> None:
    r"""Y gets :math:`(g_i - (g_i \cdot u_i) u_i) / \lVert h_i \rVert`, g being that of the u_i."""
    for start in range(0, len(h), width):
        length, along = _length(h, start, width), np.float32(0)
        if length >= SMALLEST:
            for place in range(start, start + width):
                along += gradient[place] * unit[place]
        length = max(length, SMALLEST)
        for place in range(start, start + width):
            y[place] = (gradient[place] - along * unit[place]) / length


@kernel
def _length(h: Floats, start: int, width: int) -> Any:
    squares = np.float32(0)
    for place in range(start, start + width):
        squares += h[place] * h[place]
    return np.sqrt(squares)
