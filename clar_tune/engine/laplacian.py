r"""Energies of a signal on a graph, :math:`\tfrac12 \sum_{ij} a_{ij} \lVert h_i - h_j \rVert^2`.

With :math:`a_{ij} = (d_i d_j)^{-1/2}` this is :math:`\mathrm{tr}(H^\top L H)` for
:math:`L = \mathrm{diag}(\tilde A 1) - \tilde A`. Differences are taken first: a sum that is nearly
constant over a neighbourhood loses no digits.
"""

from typing import Any

import numpy as np

from clar_tune.engine.arrays import Csr, Floats, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.vectors import load, store, total, zeros


@kernel
def trace(pattern: Csr, roots: Floats, h: Floats, width: int, y: Floats) -> float:
    r""":math:`\mathrm{tr}(H^\top L H)`; y gets :math:`L H`, half its gradient."""
    energy = 0.0
    column = 0
    while column < width:
        if width - column >= 16:
            energy += _trace(pattern, roots, h, width, column, y, zeros(16))
            column += 16
        else:
            energy += _trace(pattern, roots, h, width, column, y, zeros(8))
            column += 8
    return energy


@kernel
def _trace(
    pattern: Csr, roots: Floats, h: Floats, width: int, column: int, y: Floats, like: Any
) -> float:
    starts, columns, _ = pattern
    energy = 0.0
    for row in range(len(roots)):
        own = load(h, row * width + column, like)
        even, odd, even_squares, odd_squares = like, like, like, like
        entry, end = signed(starts[row]), signed(starts[row + 1])
        while entry + 1 < end:
            one, two = signed(columns[entry]), signed(columns[entry + 1])
            to_one = own - load(h, one * width + column, like)
            to_two = own - load(h, two * width + column, like)
            even, odd = even + roots[one] * to_one, odd + roots[two] * to_two
            even_squares = even_squares + roots[one] * (to_one * to_one)
            odd_squares = odd_squares + roots[two] * (to_two * to_two)
            entry += 2
        if entry < end:
            one = signed(columns[entry])
            to_one = own - load(h, one * width + column, like)
            even = even + roots[one] * to_one
            even_squares = even_squares + roots[one] * (to_one * to_one)
        store(y, row * width + column, roots[row] * (even + odd))
        energy += np.float64(roots[row]) * np.float64(total(even_squares + odd_squares))
    return 0.5 * energy


@kernel
def released(pattern: Csr, roots: Floats, h: Floats, width: int, y: Floats) -> float:
    r"""The mean distance squared, times M, as the code released with the paper computes it.

    That is :math:`M (\tfrac1M \sum_{ij} a_{ij} \lVert h_i - h_j \rVert)^2` over the M directed
    entries. With S the sum, y gets half the gradient,
    :math:`\tfrac{2S}{M} \sum_j a_{ij} (h_i - h_j) / \lVert h_i - h_j \rVert`; that of a distance
    of 0 is 0.
    """
    nodes = len(roots)
    entries = signed(pattern.starts[nodes])
    y[:] = 0
    if entries == 0:
        return 0.0
    summed = 0.0
    for row in range(nodes):
        for entry in range(pattern.starts[row], pattern.starts[row + 1]):
            other = signed(pattern.columns[entry])
            square = np.float32(0)
            for column in range(width):
                difference = h[row * width + column] - h[other * width + column]
                square += difference * difference
            if square > 0 or np.isnan(square):
                distance, weight = np.sqrt(square), roots[row] * roots[other]
                summed += weight * distance
                for column in range(width):
                    difference = h[row * width + column] - h[other * width + column]
                    y[row * width + column] += weight / distance * difference
    scale = np.float32(2 * summed / entries)
    for place in range(len(y)):
        y[place] *= scale
    return summed * summed / entries
