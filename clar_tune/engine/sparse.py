"""Products with sparse matrices, and dropout of their entries. Dense arrays are flat."""

from typing import Any

import numpy as np

from clar_tune.engine.arrays import Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import kernel
from clar_tune.engine.randomness import fill_words, scale_of, threshold
from clar_tune.engine.vectors import load, store, zeros


@kernel
def multiply(
    matrix: Csr,
    rows: Numbers,
    x: Floats,
    x_stride: int,
    bias: Floats,
    width: int,
    y: Floats,
    y_stride: int,
) -> None:
    r"""Some rows of :math:`Y = M X + 1 b^\top`, columns in blocks of 128 to 8.

    A row of X begins ``x_stride`` after the last one: it may be a part of wider ones. So may Y.
    """
    column = 0
    while column < width:
        xs, biases, ys = x[column:], bias[column:], y[column:]
        if width - column >= 128:
            _multiply(matrix, rows, xs, x_stride, biases, ys, y_stride, zeros(128))
            column += 128
        elif width - column >= 64:
            _multiply(matrix, rows, xs, x_stride, biases, ys, y_stride, zeros(64))
            column += 64
        elif width - column >= 32:
            _multiply(matrix, rows, xs, x_stride, biases, ys, y_stride, zeros(32))
            column += 32
        elif width - column >= 16:
            _multiply(matrix, rows, xs, x_stride, biases, ys, y_stride, zeros(16))
            column += 16
        else:
            _multiply(matrix, rows, xs, x_stride, biases, ys, y_stride, zeros(8))
            column += 8


@kernel
def _multiply(
    matrix: Csr,
    rows: Numbers,
    x: Floats,
    x_stride: int,
    bias: Floats,
    y: Floats,
    y_stride: int,
    like: Any,
) -> None:
    """Two sums at a time: each waits for its own last addition only."""
    starts, columns, values = matrix
    offset = load(bias, 0, like)
    for place in range(len(rows)):
        row = signed(rows[place])
        even, odd = offset, like
        entry, end = signed(starts[row]), signed(starts[row + 1])
        while entry + 1 < end:
            even = even + values[entry] * load(x, columns[entry] * x_stride, like)
            odd = odd + values[entry + 1] * load(x, columns[entry + 1] * x_stride, like)
            entry += 2
        if entry < end:
            even = even + values[entry] * load(x, columns[entry] * x_stride, like)
        store(y, row * y_stride, even + odd)


@kernel
def add_transposed(matrix: Csr, d: Floats, width: int, gradient: Floats) -> None:
    r""":math:`G \mathrel{+}= M^\top D`, row by row of M: no transposed matrix is needed."""
    add_transposed_part(matrix, d, width, 0, width, gradient)


@kernel
def add_transposed_part(
    matrix: Csr, d: Floats, width: int, first: int, last: int, gradient: Floats
) -> None:
    """The same for some columns of D, a multiple of eight."""
    column = first
    while column < last:
        if last - column >= 128:
            _add_transposed(matrix, d, width, column, gradient, zeros(128))
            column += 128
        elif last - column >= 64:
            _add_transposed(matrix, d, width, column, gradient, zeros(64))
            column += 64
        elif last - column >= 32:
            _add_transposed(matrix, d, width, column, gradient, zeros(32))
            column += 32
        elif last - column >= 16:
            _add_transposed(matrix, d, width, column, gradient, zeros(16))
            column += 16
        else:
            _add_transposed(matrix, d, width, column, gradient, zeros(8))
            column += 8


@kernel
def _add_transposed(
    matrix: Csr, d: Floats, width: int, column: int, gradient: Floats, like: Any
) -> None:
    for row in range(len(matrix.starts) - 1):
        own = load(d, row * width + column, like)
        for entry in range(matrix.starts[row], matrix.starts[row + 1]):
            place = matrix.columns[entry] * width + column
            store(gradient, place, load(gradient, place, like) + matrix.values[entry] * own)


@kernel
def drop_entries(matrix: Csr, rate: float, key: np.uint64, words: Numbers, kept: Csr) -> None:
    """The entries that dropout leaves, scaled up; those that it drops are not stored.

    Entry e is kept by the e-th 16 bits of the stream. Zeros stay zero under dropout, so that this
    is dropout of the dense matrix.
    """
    limit, scale = threshold(rate), scale_of(rate)
    entries = signed(matrix.starts[len(matrix.starts) - 1])
    fill_words(key, 0, (entries + 1) // 2, words)
    bits = words.view(np.uint16)
    place = 0
    kept.starts[0] = 0
    for row in range(len(matrix.starts) - 1):
        for entry in range(matrix.starts[row], matrix.starts[row + 1]):
            kept.columns[place] = matrix.columns[entry]  # overwritten by the next if dropped
            kept.values[place] = scale * matrix.values[entry]
            place += signed(bits[entry] >= limit)
        kept.starts[row + 1] = place


@kernel
def count_kept(
    matrix: Csr, first: int, last: int, rate: float, key: np.uint64, words: Numbers, kept: Csr
) -> None:
    """How many entries of some rows :func:`drop_entries` keeps goes to ``kept.starts[last]``."""
    begin, end = signed(matrix.starts[first]), signed(matrix.starts[last])
    fill_words(key, begin // 2, (end + 1) // 2 - begin // 2, words[begin // 2 :])
    bits, limit = words.view(np.uint16), threshold(rate)
    count = 0
    for entry in range(begin, end):
        count += signed(bits[entry] >= limit)
    if last > first:
        kept.starts[last] = count


@kernel
def keep_entries(
    matrix: Csr, first: int, last: int, rate: float, words: Numbers, kept: Csr
) -> None:
    """Some rows of :func:`drop_entries`, once it is known where they begin and end."""
    bits, limit, scale = words.view(np.uint16), threshold(rate), scale_of(rate)
    place, end = signed(kept.starts[first]), signed(kept.starts[last])
    for row in range(first, last):
        for entry in range(matrix.starts[row], matrix.starts[row + 1]):
            if place < end:  # what comes after is another's
                kept.columns[place] = matrix.columns[entry]
                kept.values[place] = scale * matrix.values[entry]
                place += signed(bits[entry] >= limit)
        kept.starts[row + 1] = place
