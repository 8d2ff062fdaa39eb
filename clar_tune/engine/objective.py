"""The losses that are minimised, their gradients, and accuracy."""

import math

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.vectors import exponential, first, largest, load, store, total, zeros

AT_A_TIME = 32
"""Sums whose product is taken before its logarithm: each is from 1 to the number of classes."""


@kernel
def cross_entropy(
    logits: Floats,
    rows: Numbers,
    labels: NDArray[np.int64],
    classes: int,
    width: int,
    gradient: Floats,
) -> tuple[float, float]:
    r"""The mean over some rows of :math:`-\log \mathrm{softmax}(z_i)_{y_i}`, and the accuracy.

    With :math:`s_i = \sum_c e^{z_{ic} - \max z_i}` it is :math:`\log s_i + \max z_i - z_{i y_i}`,
    and its gradient :math:`(\mathrm{softmax}(z_i) - 1_{y_i}) / |rows|` goes to these rows of
    ``gradient``, unless that is empty. The sum of logarithms is taken as that of products.
    """
    loss, product, correct = 0.0, 1.0, 0
    share = np.float32(1.0 / len(rows))
    for place in range(len(rows)):
        row = signed(rows[place])
        start, label = row * width, labels[row]
        top = np.float32(-np.inf)
        for column in range(0, width, 8):
            z = first(load(logits, start + column, zeros(8)), classes - column, -np.inf)
            top = max(top, largest(z))
        s = np.float32(0)
        for column in range(0, width, 8):
            z = -top + load(logits, start + column, zeros(8))
            s += total(first(exponential(z), classes - column, 0.0))
        product *= float(s)
        if place % AT_A_TIME == AT_A_TIME - 1:
            loss += math.log(product)
            product = 1.0
        own = logits[start + label]
        loss += float(top - own)
        correct += _is_first(logits, start, label, own, top)
        if len(gradient):
            for column in range(0, width, 8):
                z = -top + load(logits, start + column, zeros(8))
                p = first(exponential(z), classes - column, 0.0)
                store(gradient, start + column, np.float32(share / s) * p)
            gradient[start + label] -= share
    loss += math.log(product)
    return loss / len(rows), correct / len(rows)


@kernel
def _is_first(logits: Floats, start: int, label: int, own: np.float32, top: np.float32) -> int:
    """Whether the label's logit is the largest, and no class before it has the same."""
    if own != top:
        return 0
    for other in range(label):
        if logits[start + other] == top:
            return 0
    return 1


@kernel
def squared_error(
    outputs: Floats, rows: Numbers, targets: Floats, count: int, width: int, gradient: Floats
) -> float:
    r"""The mean over some rows and all targets of :math:`(z_{it} - y_{it})^2`.

    Its gradient :math:`2 (z_{it} - y_{it}) / (|rows|\, T)` goes to these rows of ``gradient``,
    unless that is empty. ``targets`` are as wide as outputs.
    """
    loss = 0.0
    share = np.float32(2.0 / (len(rows) * count))
    for place in range(len(rows)):
        start = signed(rows[place]) * width
        for column in range(count):
            difference = outputs[start + column] - targets[start + column]
            loss += difference * difference
            if len(gradient):
                gradient[start + column] = share * difference
    return loss / (len(rows) * count)
