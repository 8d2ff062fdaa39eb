r"""P-reg: how far outputs Z are from their smoothed selves :math:`\hat A Z`."""

import math

import numpy as np

from clar_tune.engine.arrays import Floats
from clar_tune.engine.compiling import kernel


@kernel
def squared_change(z: Floats, smoothed: Floats) -> float:
    r""":math:`\lVert \hat A Z - Z \rVert_F^2`; the difference S stays in ``smoothed``.

    Half its gradient is :math:`\hat A S - S`.
    """
    squares = 0.0
    for place in range(len(z)):
        smoothed[place] -= z[place]
        squares += smoothed[place] * smoothed[place]
    return squares


@kernel
def cross_smoothed(z: Floats, classes: int, width: int, smoothed: Floats, y: Floats) -> float:
    r""":math:`-\sum_i p_i \cdot \log q_i` for p the softmax of Z and q that of :math:`\hat A Z`.

    y gets the gradient through p, :math:`-p_{ic} (\log q_{ic} - p_i \cdot \log q_i)`, and
    ``smoothed`` that of :math:`\hat A Z`, which is :math:`q - p`.
    """
    summed = 0.0
    for start in range(0, len(z), width):
        own, other = _log_sum(z, start, classes), _log_sum(smoothed, start, classes)
        crossed = 0.0
        for place in range(start, start + classes):
            crossed += math.exp(z[place] - own) * (smoothed[place] - other)
        for place in range(start, start + classes):
            p, log_q = math.exp(z[place] - own), smoothed[place] - other
            y[place] = np.float32(-p * (log_q - crossed))
            smoothed[place] = np.float32(math.exp(log_q) - p)
        summed -= crossed
    return summed


@kernel
def _log_sum(z: Floats, start: int, classes: int) -> float:
    r""":math:`\log \sum_c e^{z_c}` of a row."""
    top = -np.inf
    for place in range(start, start + classes):
        top = max(top, np.float64(z[place]))
    summed = 0.0
    for place in range(start, start + classes):
        summed += math.exp(z[place] - top)
    return top + math.log(summed)
