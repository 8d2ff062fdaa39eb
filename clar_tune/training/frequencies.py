"""How the energy of a model's outputs is spread over the frequencies of its graph."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from clar_tune.graphs import FULL_SPECTRUM_NODES, Graph, Spectrum, laplacian, spectrum_of
from clar_tune.records import stored_as

BANDS = 11
"""How many equally wide bands the eigenvalues from 0 to 2 are divided into.

Equally wide, since bands of equally many would cut apart the vectors of an eigenvalue that occurs
often; an odd number, so that the most frequent of these, 1, lies within a band and not between
two.
"""

_ROUNDING = 1e-12  # below this part of all energy, differences between nodes are rounding


@stored_as("total", "constant", "frequency", "bands")
@dataclass(frozen=True, slots=True)
class Energy:
    """The energy of outputs less their mean over the nodes, H [N, C], and where it lies.

    Nodes without edges have no neighbours to differ from: they are left out, N counts the others.
    """

    total: float
    """||H||^2 / N: the variance of the outputs, summed over the columns."""
    constant: float
    """What the means held, per node too: a constant is no frequency of this Laplacian."""
    frequency: float | None
    """The mean frequency tr(H' L H) / tr(H' H); none where all nodes have the same outputs."""
    bands: tuple[float, ...] | None
    """Energy in each band; they sum to the total. None for a graph too large for its spectrum."""

    @property
    def shares(self) -> tuple[float, ...] | None:
        """The bands as fractions of the total."""
        if self.bands is None or not self.total:
            return None
        return tuple(band / self.total for band in self.bands)


@dataclass(frozen=True, eq=False)
class Frequencies:
    """A graph's Laplacian and, up to 8,000 nodes, its spectrum: what energies are measured by."""

    joined: NDArray[np.bool_]  # which nodes have edges: N of them
    matrix: sp.csr_array  # [N, N]
    spectrum: Spectrum | None

    @staticmethod
    def of(graph: Graph) -> "Frequencies":
        """The frequencies of a graph, without self-loops."""
        matrix = laplacian(graph)
        small = graph.num_nodes <= FULL_SPECTRUM_NODES
        joined = matrix.diagonal() > 0
        return Frequencies(
            joined, matrix[joined][:, joined], spectrum_of(graph) if small else None
        )

    @property
    def band_sizes(self) -> tuple[float, ...] | None:
        """The fraction of all eigenvalues in each band: the share that white noise has there."""
        if self.spectrum is None:
            return None
        counts = self._per_band((self.spectrum.vectors[self.joined] ** 2).sum(axis=0))
        return tuple(count / max(1, self.joined.sum()) for count in counts)

    def energy(self, outputs: NDArray[np.floating]) -> Energy:
        r"""The energy of ``outputs`` of all nodes.

        The mean of each column is taken out first. A number added to a column at all nodes says
        nothing about neighbours, yet where degrees differ this Laplacian would take it for a
        mixture of all frequencies: its own zero is :math:`D^{1/2} 1`, not the constant.
        """
        h = outputs[self.joined].astype(np.float64)  # [N, C]
        mean = h.sum(axis=0) / max(1, len(h))  # [C]
        h = (h - mean) / np.sqrt(max(1, len(h)))
        constant, total = float(mean @ mean), float((h**2).sum())
        if total <= _ROUNDING * constant:
            total, h = 0.0, np.zeros_like(h)
        smoothness = float((h * (self.matrix @ h)).sum())
        return Energy(total, constant, smoothness / total if total else None, self._bands(h))

    def _bands(self, h: NDArray[np.float64]) -> tuple[float, ...] | None:
        if self.spectrum is None:
            return None
        amplitudes = self.spectrum.vectors[self.joined].T @ h.astype(np.float32)  # [all, C]
        return self._per_band((amplitudes.astype(np.float64) ** 2).sum(axis=1))

    def _per_band(self, per_eigenvalue: NDArray[np.floating]) -> tuple[float, ...]:
        assert self.spectrum is not None
        bands = band_of(self.spectrum.values)
        return tuple(np.bincount(bands, per_eigenvalue, BANDS).tolist())


def band_of(eigenvalues: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of each eigenvalue's band, from 0."""
    return (eigenvalues * (BANDS / 2)).astype(np.int64).clip(max=BANDS - 1)


def band_edges() -> list[tuple[float, float]]:
    """Where each band starts and ends."""
    return [(2 * band / BANDS, 2 * (band + 1) / BANDS) for band in range(BANDS)]
