"""Products of dense matrices, and what happens between layers. Arrays are flat, row by row."""

from typing import Any

import numpy as np

from clar_tune.engine.arrays import Floats, Numbers
from clar_tune.engine.compiling import kernel
from clar_tune.engine.randomness import fill_words, scale_of, threshold
from clar_tune.engine.vectors import exponential, load, store, where_positive, zeros

BLOCK = 4096
"""Elements whose random bits are made at a time: they stay in the first cache."""

RELU, ELU = 0, 1


@kernel
def dense_product(x: Floats, w: Floats, rows: int, inner: int, width: int, y: Floats) -> None:
    """``Y = X W`` for X [rows, inner], W [inner, width]."""
    column = 0
    while column < width:
        if width - column >= 16:
            _dense_product(x, w, rows, inner, width, column, y, zeros(16))
            column += 16
        else:
            _dense_product(x, w, rows, inner, width, column, y, zeros(8))
            column += 8


@kernel
def _dense_product(
    x: Floats, w: Floats, rows: int, inner: int, width: int, column: int, y: Floats, like: Any
) -> None:
    """Four rows at a time, so that each load of W serves four."""
    row = 0
    while row + 4 <= rows:
        a, b, c, d = like, like, like, like
        start = row * inner
        for k in range(inner):
            weights = load(w, k * width + column, like)
            a = a + x[start + k] * weights
            b = b + x[start + inner + k] * weights
            c = c + x[start + 2 * inner + k] * weights
            d = d + x[start + 3 * inner + k] * weights
        place = row * width + column
        store(y, place, a)
        store(y, place + width, b)
        store(y, place + 2 * width, c)
        store(y, place + 3 * width, d)
        row += 4
    while row < rows:
        a = like
        for k in range(inner):
            a = a + x[row * inner + k] * load(w, k * width + column, like)
        store(y, row * width + column, a)
        row += 1


@kernel
def add_dense_transposed(
    x: Floats, d: Floats, rows: int, inner: int, width: int, gradient: Floats
) -> None:
    r""":math:`G \mathrel{+}= X^\top D` for X [rows, inner], D [rows, width]."""
    add_dense_transposed_part(x, d, rows, inner, width, 0, inner, gradient)


@kernel
def add_dense_transposed_part(
    x: Floats,
    d: Floats,
    rows: int,
    inner: int,
    width: int,
    first: int,
    last: int,
    gradient: Floats,
) -> None:
    """The same for some columns of X, a multiple of four."""
    column = 0
    while column < width:
        if width - column >= 16:
            _add_dense_transposed(
                x, d, rows, inner, width, first, last, column, gradient, zeros(16)
            )
            column += 16
        else:
            _add_dense_transposed(
                x, d, rows, inner, width, first, last, column, gradient, zeros(8)
            )
            column += 8


@kernel
def _add_dense_transposed(
    x: Floats,
    d: Floats,
    rows: int,
    inner: int,
    width: int,
    first: int,
    last: int,
    column: int,
    gradient: Floats,
    like: Any,
) -> None:
    """Four columns of X at a time, their sums in registers; inner widths are multiples of 8."""
    for k in range(first, last, 4):
        a, b, e, f = like, like, like, like
        for row in range(rows):
            own = load(d, row * width + column, like)
            place = row * inner + k
            a = a + x[place] * own
            b = b + x[place + 1] * own
            e = e + x[place + 2] * own
            f = f + x[place + 3] * own
        place = k * width + column
        store(gradient, place, load(gradient, place, like) + a)
        store(gradient, place + width, load(gradient, place + width, like) + b)
        store(gradient, place + 2 * width, load(gradient, place + 2 * width, like) + e)
        store(gradient, place + 3 * width, load(gradient, place + 3 * width, like) + f)


@kernel
def transpose(w: Floats, rows: int, width: int, transposed: Floats) -> None:
    """W [rows, width] to [width, rows]."""
    for row in range(rows):
        for column in range(width):
            transposed[column * rows + row] = w[row * width + column]


@kernel
def add_column_sums(d: Floats, rows: int, width: int, gradient: Floats) -> None:
    r""":math:`g \mathrel{+}= D^\top 1`, the gradient of a bias."""
    column = 0
    while column < width:
        if width - column >= 32:
            _add_column_sums(d, rows, width, column, gradient, zeros(32))
            column += 32
        else:
            _add_column_sums(d, rows, width, column, gradient, zeros(8))
            column += 8


@kernel
def _add_column_sums(
    d: Floats, rows: int, width: int, column: int, gradient: Floats, like: Any
) -> None:
    sums = like
    for row in range(rows):
        sums = sums + load(d, row * width + column, like)
    store(gradient, column, load(gradient, column, like) + sums)


@kernel
def copy_columns(
    rows: int, width: int, x: Floats, x_stride: int, copy: Floats, copy_stride: int
) -> None:
    """Some columns of a matrix to those of another."""
    for row in range(rows):
        for column in range(0, width, 8):
            store(copy, row * copy_stride + column, load(x, row * x_stride + column, zeros(8)))


@kernel
def activate(
    h: Floats, kind: int, rate: float, key: np.uint64, words: Numbers, first: int = 0
) -> None:
    r""":math:`h = \mathrm{dropout}(f(h))`, in place.

    f is ReLU, :math:`\max(h, 0)`, or ELU, which is :math:`e^h - 1` below 0. Element e is kept by
    the e-th 16 bits of the stream, counted from ``first``, a multiple of ``BLOCK``.
    """
    limit, scale = np.uint16(threshold(rate)), scale_of(rate)
    bits = words.view(np.uint16)
    for start in range(0, len(h), BLOCK):
        size = min(BLOCK, len(h) - start)
        part = h[start : start + size]
        if kind == ELU:
            _elu(part)
        else:
            _relu(part)
        if rate > 0:
            fill_words(key, (first + start) // 2, size // 2, words)
            for e in range(size):
                part[e] = scale * part[e] if bits[e] >= limit else np.float32(0)


@kernel
def _relu(h: Floats) -> None:
    for e in range(len(h)):
        h[e] = np.float32(0) if h[e] <= 0 else h[e]  # a NaN stays one


@kernel
def _elu(h: Floats) -> None:
    """Near 0 by the series of :math:`e^x - 1`, where the difference would lose its digits."""
    for e in range(0, len(h), 8):
        x = load(h, e, zeros(8))
        series = np.float32(1 / 24) + np.float32(1 / 120) * x
        series = np.float32(1 / 2) + x * (np.float32(1 / 6) + x * series)
        series = x * (np.float32(1) + x * series)
        below = where_positive(np.float32(0.1) + x, series, np.float32(-1) + exponential(x))
        store(h, e, where_positive(x, x, below))


@kernel
def activate_back(
    g: Floats,
    h: Floats,
    kind: int,
    rate: float,
    key: np.uint64,
    words: Numbers,
    first: int = 0,
) -> None:
    r"""The gradient before :func:`activate` from the one after it, in place.

    Its output h tells where ReLU and dropout cut. ELU's derivative below 0 is
    :math:`e^x = f(x) + 1`, and an output of 0 says nothing: what was dropped is computed anew.
    """
    scale = scale_of(rate)
    if kind == RELU:
        for e in range(len(g)):
            g[e] = scale * g[e] if h[e] > 0 else np.float32(0)
        return
    limit = np.uint16(threshold(rate))
    bits = words.view(np.uint16)
    for start in range(0, len(g), BLOCK):
        size = min(BLOCK, len(g) - start)
        fill_words(key, (first + start) // 2, size // 2, words)
        d, own = g[start : start + size], h[start : start + size]
        for e in range(size):
            # Both are read before anything is decided: LLVM makes vectors of no other loop.
            x, after = own[e], d[e]
            slope = scale if x > 0 else x + scale
            d[e] = slope * after if bits[e] >= limit else np.float32(0)
