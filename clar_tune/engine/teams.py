"""Kernels that threads share, on large graphs.

Each thread does some rows or columns of a result, by the kernel that does all of them alone: no
sum is split, so that numbers are the same to the last bit whatever the number of threads.

A program is compiled for :class:`Alone` or for :class:`Team`; the type of the record chooses.
What a parallel loop writes it writes in kernels: numba takes its own assignments to arrays of a
record for dead.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numba import prange
from numba.extending import overload

from clar_tune.engine.arrays import Csr, Floats, Numbers, signed
from clar_tune.engine.compiling import SETTINGS, kernel
from clar_tune.engine.dense import (
    BLOCK,
    activate,
    activate_back,
    add_dense_transposed_part,
    dense_product,
)
from clar_tune.engine.sparse import (
    add_transposed_part,
    count_kept,
    drop_entries,
    keep_entries,
    multiply,
)

Function = TypeVar("Function", bound=Callable[..., Any])


class Alone(NamedTuple):
    """One thread, whose program has no parallel loops."""

    size: int


class Team(NamedTuple):
    """The threads that share the loops of a program."""

    size: int


AnyTeam = Alone | Team

_OFF = ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion")
_LOOPS = {**SETTINGS, "parallel": {"prange": True, **dict.fromkeys(_OFF, False)}}


def shared(function: Function) -> Function:
    """A kernel whose first argument is a team, and whose ``prange`` goes over its parts."""

    def register(kind: type, settings: dict[str, Any]) -> None:
        @overload(function, jit_options=settings, strict=False)  # type: ignore[untyped-decorator]
        def choose(team: Any, *_: Any) -> Any:
            return function if team.instance_class is kind else None

    register(Alone, SETTINGS)
    register(Team, _LOOPS)
    return function


if numba.config.THREADING_LAYER == "default":
    # Its threads sleep while they wait. Those of others spin, which takes processors from whoever
    # shares the machine: under load they needed four times the processor time of one thread.
    numba.config.THREADING_LAYER = "workqueue"

_pool = threading.Lock()


@contextmanager
def turn(team: AnyTeam) -> Iterator[None]:
    """Wait until no other team of this process is at work.

    All share one pool of threads, and numba ends the process if two programs use it at once.
    """
    with nullcontext() if isinstance(team, Alone) else _pool:
        yield


def gather(team: AnyTeam) -> None:
    """Let the loops of programs that this thread calls have the threads of a team."""
    if isinstance(team, Team):
        numba.set_num_threads(min(team.size, numba.config.NUMBA_NUM_THREADS))


@kernel
def bound(count: int, part: int, parts: int, step: int) -> int:
    """Where a part begins of so many things, which are divided at multiples of ``step``."""
    return min(signed(-(-count // step)) * signed(part) // parts * step, count)


@shared
def multiply_shared(
    team: AnyTeam,
    matrix: Csr,
    rows: Numbers,
    x: Floats,
    x_stride: int,
    bias: Floats,
    width: int,
    y: Floats,
    y_stride: int,
) -> None:
    """``multiply``, by rows."""
    for part in prange(team.size):
        first = bound(len(rows), part, team.size, 1)
        last = bound(len(rows), part + 1, team.size, 1)
        multiply(matrix, rows[first:last], x, x_stride, bias, width, y, y_stride)


@shared
def add_transposed_shared(
    team: AnyTeam, matrix: Csr, d: Floats, width: int, gradient: Floats
) -> None:
    """``add_transposed``, by columns."""
    for part in prange(team.size):
        first = bound(width, part, team.size, 8)
        last = bound(width, part + 1, team.size, 8)
        add_transposed_part(matrix, d, width, first, last, gradient)


@shared
def drop_entries_shared(
    team: AnyTeam, matrix: Csr, rate: float, key: np.uint64, words: Numbers, kept: Csr
) -> None:
    """``drop_entries``, by rows: each part counts what it keeps, so that all know their place."""
    if team.size == 1:
        drop_entries(matrix, rate, key, words, kept)
        return
    rows = len(matrix.starts) - 1
    for part in prange(team.size):
        first, last = bound(rows, part, team.size, 1), bound(rows, part + 1, team.size, 1)
        count_kept(matrix, first, last, rate, key, words, kept)
    _add_up(team.size, rows, kept)
    for part in prange(team.size):
        first, last = bound(rows, part, team.size, 1), bound(rows, part + 1, team.size, 1)
        keep_entries(matrix, first, last, rate, words, kept)


@kernel
def _add_up(parts: int, rows: int, kept: Csr) -> None:
    """From how much each part keeps to where it ends."""
    kept.starts[0] = 0
    place = 0
    for part in range(parts):
        first, last = bound(rows, part, parts, 1), bound(rows, part + 1, parts, 1)
        if last > first:
            place += signed(kept.starts[last])
            kept.starts[last] = place


@shared
def dense_product_shared(
    team: AnyTeam, x: Floats, w: Floats, rows: int, inner: int, width: int, y: Floats
) -> None:
    """``dense_product``, by rows, four at a time."""
    for part in prange(team.size):
        first = bound(rows, part, team.size, 4)
        last = bound(rows, part + 1, team.size, 4)
        dense_product(x[first * inner :], w, last - first, inner, width, y[first * width :])


@shared
def add_dense_transposed_shared(
    team: AnyTeam, x: Floats, d: Floats, rows: int, inner: int, width: int, gradient: Floats
) -> None:
    """``add_dense_transposed``, by columns of X, four at a time."""
    for part in prange(team.size):
        first = bound(inner, part, team.size, 4)
        last = bound(inner, part + 1, team.size, 4)
        add_dense_transposed_part(x, d, rows, inner, width, first, last, gradient)


@shared
def activate_shared(
    team: AnyTeam, h: Floats, kind: int, rate: float, key: np.uint64, words: Numbers
) -> None:
    """``activate``, by blocks of elements; each part has words of its own."""
    for part in prange(team.size):
        first = bound(len(h), part, team.size, BLOCK)
        last = bound(len(h), part + 1, team.size, BLOCK)
        own = words[signed(part) * (BLOCK // 2) :]
        activate(h[first:last], kind, rate, key, own, first)


@shared
def activate_back_shared(
    team: AnyTeam, g: Floats, h: Floats, kind: int, rate: float, key: np.uint64, words: Numbers
) -> None:
    """``activate_back``, by blocks of elements; each part has words of its own."""
    for part in prange(team.size):
        first = bound(len(g), part, team.size, BLOCK)
        last = bound(len(g), part + 1, team.size, BLOCK)
        own = words[signed(part) * (BLOCK // 2) :]
        activate_back(g[first:last], h[first:last], kind, rate, key, own, first)
