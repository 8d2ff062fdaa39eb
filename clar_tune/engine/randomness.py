r"""Random numbers by address: a function of the seed, the purpose, the epoch and the element.

Nothing is drawn "next": a number is computed from where it is used, so that a training draws the
same alone, beside others, in threads or after a restart. A stream has a key of 64 bits,

.. math:: k = m(m(m(\mathrm{seed} + g) + g\,\mathrm{purpose} + g) + g\,\mathrm{epoch} + g)

with SplitMix64's mixing m and its constant g, the golden ratio in 64 bits. Its i-th word is a hash
of i with both halves of the key: the three multiplications of Ellis' ``triple32``, the second half
added between them.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import signed
from clar_tune.engine.compiling import kernel

FEATURES, HIDDEN, COMPLEMENT, EDGES, ATTENTION, WEIGHTS = range(6)
"""Purposes. Layers have streams of their own: ``purpose + PER_LAYER * layer``."""

PER_LAYER = 16

_U32, _U64 = np.uint32, np.uint64

HALVES = 65536
"""A word is two numbers of 16 bits, enough to decide whether an element is kept."""


@kernel
def mixed(x: np.uint64) -> np.uint64:
    """SplitMix64's finaliser."""
    x = (x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U64(27))) * _U64(0x94D049BB133111EB)
    return x ^ (x >> _U64(31))


@kernel
def key_of(seed: np.uint64, purpose: int, epoch: int) -> np.uint64:
    """The key of a stream."""
    golden = _U64(0x9E3779B97F4A7C15)
    key = mixed(_U64(seed) + golden)
    key = mixed(key + _U64(purpose) * golden + golden)
    return mixed(key + _U64(epoch) * golden + golden)


@kernel
def word(key: np.uint64, index: np.uint32) -> np.uint32:
    """The word of a stream with this number: 32 random bits."""
    x = _U32(_U32(index) + _U32(key))
    x = _U32((x ^ (x >> _U32(17))) * _U32(0xED5AD4BB))
    x = _U32(x ^ (x >> _U32(11))) + _U32(key >> _U64(32))
    x = _U32(_U32(x) * _U32(0xAC4C1B51))
    x = _U32((x ^ (x >> _U32(15))) * _U32(0x31848BAB))
    return _U32(x ^ (x >> _U32(14)))


@kernel
def fill_words(key: np.uint64, start: int, count: int, words: NDArray[np.uint32]) -> None:
    """Words ``start`` to ``start + count`` of a stream."""
    for place in range(count):
        words[place] = word(key, _U32(start + place))


@kernel
def below(key: np.uint64, index: np.uint32, limit: int) -> int:
    """A whole number below ``limit``, uniform but for ``limit`` parts in 2^32."""
    return signed((_U64(word(key, index)) * _U64(limit)) >> _U64(32))


@kernel
def threshold(rate: float) -> int:
    """Elements with 16 bits below this number are dropped: ``rate`` to a part in 65,536."""
    return min(int(round(rate * HALVES)), HALVES - 1)


@kernel
def scale_of(rate: float) -> np.float32:
    """What kept elements are multiplied by, so that means stay: 1 / (1 - rate), as dropped."""
    return np.float32(HALVES / (HALVES - threshold(rate)))


def uniform(seed: int, purpose: int, count: int) -> NDArray[np.float64]:
    """Numbers between 0 and 1, made by numpy of a stream's words: nothing is compiled for it."""
    with np.errstate(over="ignore"):
        words = _plain(word)(_plain_key(seed, purpose), np.arange(count, dtype=np.uint32))
    return cast(NDArray[np.float64], (words + 0.5) / 2**32)


def _plain_key(seed: int, purpose: int) -> np.uint64:
    """:func:`key_of` epoch 0."""
    golden, key = _U64(0x9E3779B97F4A7C15), _U64(0)
    for part in (_U64(seed), _U64(purpose) * golden, _U64(0)):
        key = _plain(mixed)(key + part + golden)
    return key


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a kernel was compiled from."""
    return cast(Callable[..., Any], getattr(function, "py_func"))  # noqa: B009
