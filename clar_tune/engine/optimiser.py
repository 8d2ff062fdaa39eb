"""Adam, as torch's fused one computes it."""

import math

import numpy as np

from clar_tune.engine.arrays import Floats
from clar_tune.engine.compiling import kernel

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@kernel
def adam(
    weights: Floats,
    gradient: Floats,
    mean: Floats,
    square: Floats,
    rate: float,
    decay: float,
    decayed: int,
    step: int,
) -> None:
    r"""One step; the gradient is zero afterwards.

    .. math:: g &= \nabla + \lambda p, \quad m = \beta_1 m + (1 - \beta_1) g, \quad
              v = \beta_2 v + (1 - \beta_2) g^2 \\
              p &= p - \frac{\eta}{1 - \beta_1^t} \cdot
              \frac{m}{\sqrt v / \sqrt{1 - \beta_2^t} + \epsilon}

    Weight decay :math:`\lambda` acts on the first ``decayed`` weights.
    """
    size = rate / (1 - BETA1**step)
    root = math.sqrt(1 - BETA2**step)
    end = len(weights)
    _adam(weights[:decayed], gradient[:decayed], mean[:decayed], square[:decayed],
          np.float32(size), np.float32(1 / root), np.float32(decay))  # fmt: skip
    if decayed < end:
        _adam(weights[decayed:], gradient[decayed:], mean[decayed:], square[decayed:],
              np.float32(size), np.float32(1 / root), np.float32(0))  # fmt: skip


@kernel
def _adam(
    weights: Floats,
    gradient: Floats,
    mean: Floats,
    square: Floats,
    size: np.float32,
    inverse_root: np.float32,
    decay: np.float32,
) -> None:
    keep1, take1 = np.float32(BETA1), np.float32(1 - BETA1)
    keep2, take2 = np.float32(BETA2), np.float32(1 - BETA2)
    for place in range(len(weights)):
        g = gradient[place] + decay * weights[place]
        m = keep1 * mean[place] + take1 * g
        v = keep2 * square[place] + take2 * g * g
        mean[place], square[place], gradient[place] = m, v, np.float32(0)
        weights[place] -= size * m / (np.sqrt(v) * inverse_root + np.float32(EPSILON))
