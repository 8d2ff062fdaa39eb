import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from clar_tune.errors import GraphError
from clar_tune.graphs import spectrum as module
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.spectrum import (
    FULL_SPECTRUM_NODES,
    laplacian,
    settled,
    spectra_folder,
    spectrum_of,
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(
        module.platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache")
    )


def graph_of(pairs, num_nodes: int) -> Graph:
    """An undirected graph without features."""
    edges = np.array(list(pairs), np.int64).reshape(-1, 2).T
    return Graph(
        name="drawn",
        features=sp.csr_array(np.ones((num_nodes, 1), np.float32)),
        edges=np.concatenate([edges, edges[::-1]], axis=1),
        labels=np.arange(num_nodes) % 2,
    )


def ring(n: int) -> Graph:
    return graph_of(((i, (i + 1) % n) for i in range(n)), n)


def complete(n: int) -> Graph:
    return graph_of(((i, j) for i in range(n) for j in range(i)), n)


def path(n: int) -> Graph:
    return graph_of(((i, i + 1) for i in range(n - 1)), n)


def star(leaves: int) -> Graph:
    return graph_of(((0, i + 1) for i in range(leaves)), leaves + 1)


KNOWN = {
    "ring": (ring(9), 1 - np.cos(2 * np.pi * np.arange(9) / 9)),
    "even ring": (ring(10), 1 - np.cos(2 * np.pi * np.arange(10) / 10)),
    "complete": (complete(7), [0] + [7 / 6] * 6),
    "path": (path(6), 1 - np.cos(np.pi * np.arange(6) / 5)),
    "star": (star(5), [0, 1, 1, 1, 1, 2]),
    "no edges": (graph_of([], 3), [0, 0, 0]),
    "two rings and a loner": (
        graph_of([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], 7),
        [0, 0, 0, 1.5, 1.5, 1.5, 1.5],
    ),
}
LOOPED = {
    # A + I of a regular graph of degree d: its Laplacian is that of A, times d / (d + 1).
    "ring": (ring(9), 2 / 3 * (1 - np.cos(2 * np.pi * np.arange(9) / 9))),
    "complete": (complete(7), [0] + [1] * 6),
    "no edges": (graph_of([], 3), [0, 0, 0]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_spectra(name):
    graph, values = KNOWN[name]
    assert spectrum_of(graph).values == pytest.approx(np.sort(values), abs=1e-9)


@pytest.mark.parametrize("name", LOOPED)
def test_known_spectra_with_self_loops(name):
    graph, values = LOOPED[name]
    assert spectrum_of(graph, self_loops=True).values == pytest.approx(np.sort(values), abs=1e-9)


@pytest.mark.parametrize("self_loops", [False, True])
def test_vectors_are_orthonormal_and_give_the_laplacian_back(tiny_graph, self_loops):
    found = spectrum_of(tiny_graph, self_loops)
    u = found.vectors.astype(np.float64)
    assert u.T @ u == pytest.approx(np.eye(8), abs=1e-6)
    dense = laplacian(tiny_graph, self_loops).toarray()
    assert (u * found.values) @ u.T == pytest.approx(dense, abs=1e-6)
    assert np.all(np.diff(found.values) >= 0)


def test_the_laplacian_is_the_dense_formula(tiny_graph):
    a = np.zeros((8, 8))
    a[tiny_graph.edges[0], tiny_graph.edges[1]] = 1
    for looped, adjacency in ((False, a), (True, a + np.eye(8))):
        degree = adjacency.sum(axis=1)
        root = np.divide(1, np.sqrt(degree), out=np.zeros(8), where=degree > 0)
        dense = np.diag((degree > 0).astype(float)) - root[:, None] * adjacency * root
        assert laplacian(tiny_graph, looped).toarray() == pytest.approx(dense, abs=1e-12)


def test_equal_eigenvalues_are_equal_to_the_last_digit():
    values, counts = np.unique(spectrum_of(star(50)).values, return_counts=True)
    assert values.tolist() == [0, 1, 2]
    assert counts.tolist() == [1, 49, 1]


def test_directions_doubles_and_loops_do_not_count():
    once = ring(5)
    edges = np.concatenate([once.edges[:, :5], once.edges[:, :5], [[2], [2]]], axis=1)
    assert np.array_equal(spectrum_of(replace(once, edges=edges)).values, spectrum_of(once).values)


def test_the_vector_of_zero_is_the_root_of_degrees():
    found = spectrum_of(star(5))
    root = np.sqrt([5, 1, 1, 1, 1, 1]) / np.sqrt(10)
    assert np.abs(found.vectors[:, 0]) == pytest.approx(root, abs=1e-6)


def test_vectors_do_not_depend_on_the_basis_that_linear_algebra_finds():
    values = np.array([0, 1, 1, 1, 1, 2.0])
    vectors = spectrum_of(star(5)).vectors.astype(np.float64)
    turned = vectors.copy()
    turned[:, 1:5] @= np.linalg.qr(np.random.default_rng(7).normal(size=(4, 4)))[0]
    turned[:, [0, 5]] *= -1
    assert np.abs(turned - vectors).max() > 0.1
    assert settled(values, turned) == pytest.approx(vectors, abs=1e-6)


def forbidden(*_):
    raise AssertionError("decomposed again")


def test_a_spectrum_is_computed_once_and_read_back_to_the_last_digit(monkeypatch):
    first = spectrum_of(ring(9))
    monkeypatch.setattr(module, "_decomposed", forbidden)
    second = spectrum_of(replace(ring(9), name="another name", labels=np.zeros(9, np.int64)))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.vectors, second.vectors)
    assert (first.values.dtype, first.vectors.dtype) == (np.float64, np.float32)


def test_other_edges_self_loops_or_nodes_are_other_files():
    for graph in (ring(6), path(6), graph_of(((i, (i + 1) % 6) for i in range(6)), 7)):
        spectrum_of(graph)
        spectrum_of(graph, self_loops=True)
    assert len(list(spectra_folder().iterdir())) == 6


def only_file():
    (file,) = spectra_folder().iterdir()
    return file


@pytest.mark.parametrize("rest", [0, 10, 400])
def test_a_cut_file_is_computed_again(rest):
    before = spectrum_of(ring(9))
    whole = only_file().read_bytes()
    only_file().write_bytes(whole[:rest])
    assert np.array_equal(spectrum_of(ring(9)).vectors, before.vectors)
    assert only_file().read_bytes() == whole


def test_a_damaged_file_is_computed_again():
    before = spectrum_of(ring(9))
    data = bytearray(only_file().read_bytes())
    data[len(data) // 2] ^= 1
    only_file().write_bytes(data)
    assert np.array_equal(spectrum_of(ring(9)).vectors, before.vectors)


@pytest.mark.parametrize(
    "foreign", ["another graph", "other arrays", "other shapes", "no archive"]
)
def test_a_foreign_file_is_computed_again(foreign, tmp_path):
    before = spectrum_of(ring(9))
    file = only_file()
    if foreign == "another graph":
        file.rename(tmp_path / "ring.npz")
        spectrum_of(path(9))
        only_file().rename(file)
    elif foreign == "other arrays":
        np.savez(file, numbers=np.arange(3))
    elif foreign == "other shapes":
        content = dict(np.load(file))
        np.savez(file, **{**content, "vectors": content["vectors"][1:]})
    else:
        file.write_text("a text")
    assert np.array_equal(spectrum_of(ring(9)).values, before.values)
    assert np.array_equal(spectrum_of(ring(9)).vectors, before.vectors)


def test_without_a_place_to_write_the_spectrum_is_still_given(tmp_path):
    (tmp_path / "cache").write_text("no folder")
    assert spectrum_of(complete(4)).values == pytest.approx([0, 4 / 3, 4 / 3, 4 / 3])


def test_of_several_workers_one_computes_and_all_read_one_whole_file(monkeypatch):
    found, computed, decomposed = [], [], module._decomposed

    def counted(matrix):
        computed.append(matrix)
        return decomposed(matrix)

    monkeypatch.setattr(module, "_decomposed", counted)
    threads = [
        threading.Thread(target=lambda: found.append(spectrum_of(ring(60)))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(computed) == 1
    assert only_file().suffix == ".npz"
    read = spectrum_of(ring(60))
    assert all(np.array_equal(one.vectors, read.vectors) for one in found)


def test_too_large_a_graph_is_refused_before_any_work():
    graph = graph_of([(0, 1)], FULL_SPECTRUM_NODES + 1)
    with pytest.raises(GraphError, match="8,001 nodes.*at most 8,000"):
        spectrum_of(graph)
