"""The frequencies of a graph: eigenvalues and eigenvectors of its Laplacian, kept on disk."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import platformdirs
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from clar_tune.errors import GraphError
from clar_tune.graphs.graph import Graph, merge_duplicates

Real = NDArray[np.float64]

FULL_SPECTRUM_NODES = 8000
"""Up to this many nodes all frequencies are computed: minutes, and some gigabytes of memory."""

_DIGITS = 10  # of an eigenvalue: equal ones must not be told apart by rounding
_LAYOUT = "spectrum 1"  # of a file; another layout is another name


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues, lowest first, and eigenvectors, one per column and orthonormal.

    The vectors are as exact as float32. An eigenvalue that occurs often, as 1 does where many
    nodes have one and the same neighbour, has many orthonormal bases: given is one at random,
    the same on every machine.
    """

    values: Real  # [N]
    vectors: NDArray[np.float32]  # [N, N]


def spectrum_of(graph: Graph, self_loops: bool = False) -> Spectrum:
    """All frequencies of :func:`laplacian`; computed once per set of edges, then read back."""
    if graph.num_nodes > FULL_SPECTRUM_NODES:
        raise GraphError(
            f"{graph.name} has {graph.num_nodes:,} nodes: its full spectrum would take too long. "
            f"Choose a graph of at most {FULL_SPECTRUM_NODES:,} nodes."
        )
    identity = _identity(graph, self_loops)
    path = spectra_folder() / f"{identity}.npz"
    found = _read(path, identity, graph.num_nodes)
    if found is None:
        with _in_turn(path.parent):  # one worker computes, the others read what it wrote
            found = _read(path, identity, graph.num_nodes)
            if found is None:
                found = _decomposed(laplacian(graph, self_loops))
                with suppress(OSError):  # with no place to keep it, it is computed every time
                    _write(path, identity, found)
    return found


def laplacian(graph: Graph, self_loops: bool = False) -> sp.csr_array:
    r"""The normalised Laplacian of the undirected graph, whose eigenvalues lie in [0, 2].

    .. math:: L = I - D^{-1/2} A D^{-1/2}

    With ``self_loops`` A + I stands for A. A node without edges has a row of zeros: it is a
    component of its own, and every component has the eigenvalue 0 once.
    """
    n = graph.num_nodes
    source, target = _entries(graph, self_loops)
    degree = np.bincount(target, minlength=n)
    values = -1 / np.sqrt(degree[source] * degree[target])
    joined = sp.csr_array((values, (target, source)), shape=(n, n))
    result: sp.csr_array = sp.diags_array((degree > 0).astype(np.float64), format="csr") + joined
    return result


def spectra_folder() -> Path:
    """Where spectra are kept on this machine."""
    return Path(platformdirs.user_cache_dir("clar-tune", appauthor=False)) / "spectra"


def _decomposed(matrix: sp.csr_array) -> Spectrum:
    """Component by component: faster, and no vector is a mixture of components."""
    n = matrix.shape[0]
    values, vectors = np.zeros(n), np.zeros((n, n), np.float32)
    _, component = connected_components(matrix, directed=False)
    by_component = np.argsort(component, kind="stable")
    start = 0
    for size in np.bincount(component):
        nodes, place = by_component[start : start + size], slice(start, start + size)
        values[place], vectors[nodes, place] = _eigen(matrix[nodes][:, nodes].toarray())
        start += size
    order = np.argsort(values, kind="stable")
    return Spectrum(values[order], vectors[:, order])


def _eigen(block: Real) -> tuple[Real, Real]:
    """Eigenvalues and eigenvectors of one component."""
    values, vectors = np.linalg.eigh(block)
    rounded = values.round(_DIGITS)
    return rounded, settled(rounded, vectors)


def settled(values: Real, vectors: Real) -> Real:
    """The vectors turned within each eigenvalue to the basis that does not depend on the machine.

    It is the Q of a QR decomposition of fixed random vectors, projected on the eigenspace.
    """
    result = np.empty_like(vectors)
    for group in np.split(np.arange(len(values)), np.flatnonzero(np.diff(values)) + 1):
        own = vectors[:, group]
        fixed = np.random.default_rng(0).standard_normal(own.shape)
        q, r = np.linalg.qr(own.T @ fixed)
        result[:, group] = own @ (q * np.sign(np.diag(r)))
    return result


def _entries(graph: Graph, self_loops: bool) -> NDArray[np.int64]:
    """Edges in both directions, each once; self-loops at every node or at none."""
    edges = np.concatenate([graph.edges, graph.edges[::-1]], axis=1)
    edges = edges[:, edges[0] != edges[1]]
    if self_loops:
        edges = np.concatenate([edges, np.tile(np.arange(graph.num_nodes), (2, 1))], axis=1)
    return merge_duplicates(edges, graph.num_nodes)


def _identity(graph: Graph, self_loops: bool) -> str:
    """Name shared by all graphs with the same edges, on every machine."""
    digest = hashlib.sha256(f"{_LAYOUT}/{graph.num_nodes}/".encode())
    digest.update(np.ascontiguousarray(_entries(graph, self_loops)).tobytes())
    return digest.hexdigest()[:16]


def _read(path: Path, identity: str, num_nodes: int) -> Spectrum | None:
    """A spectrum from its file; none if there is no such file, or it holds something else."""
    try:
        # A zip archive: its checksums tell of damage.
        with path.open("rb") as stream, np.load(stream) as file:
            found = Spectrum(file["values"], file["vectors"])
            same = str(file["identity"]) == identity
    except (OSError, EOFError, KeyError, ValueError, BadZipFile, NotImplementedError):
        return None
    fits = found.values.shape == (num_nodes,) and found.vectors.shape == (num_nodes, num_nodes)
    return found if same and fits else None


@contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    """One process at a time decomposes, as it takes much memory; where a folder can be locked."""
    with ExitStack() as stack:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _write(path: Path, identity: str, spectrum: Spectrum) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own: several workers may write one spectrum at once.
    part = path.with_name(f"{path.stem}.{secrets.token_hex(4)}.part")
    try:
        with part.open("wb") as file:
            np.savez(file, values=spectrum.values, vectors=spectrum.vectors, identity=identity)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
