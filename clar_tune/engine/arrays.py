"""A graph as arrays that compiled programs take."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clar_tune.engine.compiling import kernel
from clar_tune.errors import ParameterError
from clar_tune.graphs import Graph

Floats = NDArray[np.float32]
Numbers = NDArray[np.uint32]
"""Places in arrays. Without a sign numba needs no check for those that count from the end."""

Made = TypeVar("Made")

MOST = 2**32
"""Entries, as their places have 32 bits."""

LINE = 64
"""Bytes of a line of the cache."""


def room(size: int) -> Floats:
    """Zeros that begin with a line of the cache: a vector that lies across two is loaded twice."""
    memory = np.zeros(4 * size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + 4 * size].view(np.float32)


class Csr(NamedTuple):
    """A sparse matrix, row by row. Arrays may be longer than what is in use."""

    starts: Numbers  # [rows + 1]
    columns: Numbers  # [entries]
    values: Floats  # [entries]


@kernel
def signed(number: Any) -> int:
    """A place as a number with a sign: numba makes floats of sums of both kinds."""
    return np.int64(number)  # type: ignore[return-value]


@kernel
def copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Numbers to the first places of another array.

    For a slice that gets a slice numba compiles words on shapes that differ too: 2 seconds.
    """
    for place in range(len(source)):
        target[place] = source[place]


def csr_of(matrix: sp.csr_array) -> Csr:
    """A copy of scipy's matrix."""
    if matrix.nnz >= MOST:
        raise ParameterError(
            f"a matrix of {matrix.nnz:,} entries: programs take less than {MOST:,}."
        )
    return Csr(
        np.array(matrix.indptr, np.uint32, order="C"),
        np.array(matrix.indices, np.uint32, order="C"),
        np.array(matrix.data, np.float32, order="C"),
    )


def no_matrix() -> Csr:
    """A matrix without rows, where a program needs none."""
    return Csr(np.zeros(1, np.uint32), np.zeros(0, np.uint32), np.zeros(0, np.float32))


@dataclass(frozen=True, eq=False)
class ArrayGraph:
    """What every training on a graph shares in this process.

    ``adjacency`` has one row per target and one column per source: no self-loops, no doubles.
    """

    features: Csr  # [N, F]
    num_features: int
    adjacency: sp.csr_array  # [N, N] of ones
    labels: NDArray[np.int64]  # [N]
    num_outputs: int
    metric: str
    targets: Floats | None  # [N, T]
    _made: dict[object, Any] = field(default_factory=dict)
    _making: threading.RLock = field(default_factory=threading.RLock)

    @staticmethod
    def of(graph: Graph) -> "ArrayGraph":
        """Copies of a graph's arrays; of dense features too zeros are left out."""
        n = graph.num_nodes
        source, target = graph.edges[:, graph.edges[0] != graph.edges[1]]
        adjacency = sp.csr_array((np.ones(len(source)), (target, source)), shape=(n, n))
        adjacency.sum_duplicates()
        adjacency.data[:] = 1.0
        return ArrayGraph(
            features=csr_of(sp.csr_array(graph.features)),
            num_features=graph.num_features,
            adjacency=adjacency,
            labels=np.array(graph.labels, np.int64),
            num_outputs=graph.num_outputs,
            metric=graph.metric,
            targets=None if graph.targets is None else np.array(graph.targets, np.float32),
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.labels)

    @property
    def entries(self) -> int:
        """Features that are not zero and edges: by them a graph is large or not."""
        return len(self.features.columns) + int(self.adjacency.nnz)

    @cached_property
    def undirected(self) -> sp.csr_array:
        """The adjacency with each edge in both directions, columns ascending."""
        both = sp.csr_array(self.adjacency + self.adjacency.T)
        both.data[:] = 1.0
        both.sort_indices()
        return both

    def scaled(self, rule: str) -> tuple[Csr, Csr]:
        r"""A matrix of the graph and its transpose, made once.

        ``smoothing``: :math:`\hat D^{-1/2} (A + I) \hat D^{-1/2}` with arriving edges counted;
        ``normalised``: :math:`D^{-1/2} A D^{-1/2}` with leaving ones; ``averaging``:
        :math:`D^{-1} A`; ``looped``: :math:`A + I`.
        """

        def make() -> tuple[Csr, Csr]:
            matrix = _RULES[rule](self.adjacency)
            return csr_of(matrix), csr_of(sp.csr_array(matrix.T))

        return self.once(rule, make)

    def once(self, key: object, make: Callable[[], Made]) -> Made:
        """What is made of the graph where it is first asked for; other threads wait for it."""
        with self._making:
            if key not in self._made:
                self._made[key] = make()
            return cast(Made, self._made[key])

    @cached_property
    def undirected_smoothing(self) -> Csr:
        """GCN's matrix of the undirected graph."""
        return csr_of(smoothing(self.undirected))

    @cached_property
    def neighbours(self) -> Csr:
        """The undirected graph's lists of neighbours."""
        return csr_of(self.undirected)

    @cached_property
    def neighbour_roots(self) -> Floats:
        """The inverse root of each node's number of neighbours, 0 for none."""
        return _inverse_roots(self.undirected.sum(axis=1)).astype(np.float32)


def _looped(adjacency: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0]))


def smoothing(adjacency: sp.csr_array) -> sp.csr_array:
    r""":math:`\hat D^{-1/2} (A + I) \hat D^{-1/2}`, D counting arriving edges."""
    looped = _looped(adjacency)
    return _scaled(looped, looped.sum(axis=1))


def _normalised(adjacency: sp.csr_array) -> sp.csr_array:
    return _scaled(adjacency, adjacency.sum(axis=0))


def _averaging(adjacency: sp.csr_array) -> sp.csr_array:
    counts = np.diff(adjacency.indptr)
    values = np.repeat(1.0 / np.maximum(counts, 1), counts)
    return sp.csr_array((values, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


_RULES: dict[str, Callable[[sp.csr_array], sp.csr_array]] = {
    "smoothing": smoothing,
    "normalised": _normalised,
    "averaging": _averaging,
    "looped": _looped,
}


def _scaled(matrix: sp.csr_array, degree: NDArray[np.float64]) -> sp.csr_array:
    """Entries times the inverse roots of both ends' degrees, 0 where a degree is 0."""
    root = _inverse_roots(degree)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = matrix.data * root[rows] * root[matrix.indices]
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def _inverse_roots(degree: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(1.0, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0)
