from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from clar_tune.graphs import spectrum as spectra
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.spectrum import FULL_SPECTRUM_NODES, laplacian, spectrum_of
from clar_tune.training.frequencies import BANDS, Energy, Frequencies, band_edges, band_of


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(spectra.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path))


def ring(n: int) -> Graph:
    edges = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    return Graph(
        name="ring",
        features=sp.csr_array(np.ones((n, 1), np.float32)),
        edges=np.concatenate([edges, edges[::-1]], axis=1),
        labels=np.arange(n) % 2,
    )


def wave(n: int, k: int) -> np.ndarray:
    """An eigenvector of the ring, with the eigenvalue 1 - cos(2 pi k / n)."""
    return np.cos(2 * np.pi * k * np.arange(n) / n)[:, None]


def test_a_wave_on_a_ring_lies_in_the_band_of_its_frequency():
    frequencies = Frequencies.of(ring(12))
    for k in range(1, 7):
        value = 1 - np.cos(np.pi * k / 6)
        energy = frequencies.energy(wave(12, k))
        assert energy.frequency == pytest.approx(value)
        start, end = band_edges()[np.argmax(energy.shares)]
        assert start < value <= end
        assert max(energy.shares) == pytest.approx(1)


def test_two_waves_share_the_energy_as_their_squares():
    energy = Frequencies.of(ring(12)).energy(np.hstack([wave(12, 6), 2 * wave(12, 3)]))
    # Squares: 1 at eigenvalue 2, and 4 times 1/2 at eigenvalue 1.
    assert energy.total == pytest.approx(3)
    assert energy.bands[10] == pytest.approx(1)
    assert energy.bands[5] == pytest.approx(2)
    assert energy.shares[5] == pytest.approx(2 / 3)
    assert energy.frequency == pytest.approx(4 / 3)


def test_a_constant_is_taken_out_and_counted_apart(tiny_graph):
    frequencies = Frequencies.of(tiny_graph)
    h = np.random.default_rng(0).normal(size=(8, 3))
    h -= h[:7].mean(axis=0)
    bare, moved = frequencies.energy(h), frequencies.energy(h + [3.0, 0.0, 4.0])
    assert bare.constant == pytest.approx(0)
    assert moved.constant == pytest.approx(25)
    assert moved.frequency == pytest.approx(bare.frequency)
    assert moved.bands == pytest.approx(bare.bands, abs=1e-6)


def test_energies_are_the_dense_formula(tiny_graph):
    h = np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32)
    energy = Frequencies.of(tiny_graph).energy(h)
    dense = laplacian(tiny_graph).toarray()[:7, :7]  # node 7 has no edges
    centred = (h[:7] - h[:7].mean(axis=0)).astype(np.float64)
    total = np.trace(centred.T @ centred)
    assert energy.total == pytest.approx(total / 7)
    assert energy.constant == pytest.approx((h[:7].mean(axis=0) ** 2).sum())
    assert energy.frequency == pytest.approx(np.trace(centred.T @ dense @ centred) / total)
    values, vectors = np.linalg.eigh(dense)
    amplitudes = ((vectors.T @ centred) ** 2).sum(axis=1) / 7
    for band, (start, end) in zip(energy.bands, band_edges(), strict=True):
        inside = (values > start - 1e-9) & (values < end - 1e-9)
        assert band == pytest.approx(amplitudes[inside].sum(), abs=1e-6)
    assert sum(energy.bands) == pytest.approx(energy.total)


def test_nodes_without_edges_do_not_count(tiny_graph):
    frequencies = Frequencies.of(tiny_graph)
    h = np.random.default_rng(1).normal(size=(8, 3))
    other = h.copy()
    other[7] = 1000
    assert frequencies.energy(other) == frequencies.energy(h)
    assert sum(frequencies.band_sizes) == pytest.approx(1)
    assert frequencies.band_sizes[0] == pytest.approx(
        2 / 7
    )  # 0, and the cut between the triangles
    nothing = Frequencies.of(replace(tiny_graph, edges=np.zeros((2, 0), np.int64)))
    assert nothing.energy(h).frequency is None


@pytest.mark.parametrize("value", [0.0, 0.1, -7.3])
def test_equal_outputs_have_no_frequency(value):
    energy = Frequencies.of(ring(101)).energy(np.full((101, 3), value))
    assert energy == Energy(0.0, energy.constant, None, (0.0,) * BANDS)
    assert energy.shares is None
    assert energy.constant == pytest.approx(3 * value**2)


def test_white_noise_has_the_share_of_eigenvalues_in_each_band():
    graph = ring(600)
    frequencies = Frequencies.of(graph)
    assert sum(frequencies.band_sizes) == pytest.approx(1)
    noise = np.random.default_rng(0).normal(size=(600, 200))
    assert frequencies.energy(noise).shares == pytest.approx(frequencies.band_sizes, abs=0.01)


def test_bands_are_equally_wide_and_one_lies_in_the_middle():
    edges = band_edges()
    assert edges[0][0] == 0 and edges[-1][1] == 2
    assert np.diff(edges).ravel() == pytest.approx([2 / 11] * 11)
    values = np.array([0, 0.18, 0.19, 0.95, 1, 1.05, 1.81, 1.82, 2])
    assert band_of(values).tolist() == [0, 0, 1, 5, 5, 5, 9, 10, 10]


def test_a_large_graph_has_its_mean_frequency_only():
    n = FULL_SPECTRUM_NODES + 2
    frequencies = Frequencies.of(ring(n))
    assert frequencies.spectrum is None and frequencies.band_sizes is None
    energy = frequencies.energy(wave(n, n // 2))
    assert energy.bands is None and energy.shares is None
    assert energy.frequency == pytest.approx(2)


def test_the_mean_frequency_is_the_mean_over_the_spectrum(tiny_graph):
    h = np.random.default_rng(2).normal(size=(8, 2))
    h -= h[:7].mean(axis=0)
    h[7] = 0
    spectrum = spectrum_of(tiny_graph)
    weights = ((spectrum.vectors.T @ h) ** 2).sum(axis=1)
    energy = Frequencies.of(tiny_graph).energy(h)
    assert energy.frequency == pytest.approx(np.average(spectrum.values, weights=weights))


def test_features_do_not_matter(tiny_graph):
    h = np.random.default_rng(3).normal(size=(8, 2))
    other = replace(tiny_graph, features=sp.csr_array(np.eye(8, dtype=np.float32)))
    assert Frequencies.of(other).energy(h) == Frequencies.of(tiny_graph).energy(h)
