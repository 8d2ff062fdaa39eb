"""Real graphs: equal to those that torch-geometric loads, never written to, with their spectra."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch_geometric.datasets as pyg
from scipy.sparse.csgraph import connected_components

from clar_tune.graphs.catalogue import DATASETS
from clar_tune.graphs.loading import load, load_raw
from clar_tune.graphs.spectrum import laplacian, spectrum_of

REAL = [name for name, dataset in DATASETS.items() if dataset.source]
WITH_CLASS = [name for name in REAL if DATASETS[name].source.pyg_class]
# The dense features of these two take gigabytes in torch-geometric's own code.
COMPARABLE = [name for name in WITH_CLASS if name not in ("cs", "physics")]


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")
    }


@pytest.mark.parametrize("name", COMPARABLE)
def test_graphs_equal_torch_geometrics_own(name, data_folder, tmp_path):
    raw = tmp_path / DATASETS[name].source.folder
    raw.parent.mkdir(parents=True)
    raw.symlink_to(data_folder / DATASETS[name].source.folder)
    title, pyg_class = raw.relative_to(tmp_path).parts[0], DATASETS[name].source.pyg_class
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its unpickling is deprecated by numpy
        arguments = [tmp_path / title] if name == "actor" else [tmp_path, title]
        theirs = getattr(pyg, pyg_class)(*map(str, arguments))[0]
    ours = load_raw(name, data_folder)
    assert np.array_equal(ours.features.toarray(), theirs.x.numpy())
    assert np.array_equal(ours.labels, theirs.y.numpy())
    edges = theirs.edge_index.numpy()
    assert np.array_equal(ours.edges, edges[:, np.lexsort(edges)])
    for part in ("train", "val", "test"):
        mask = theirs.get(f"{part}_mask")
        if mask is None:
            assert ours.fixed is None
        else:
            assert np.array_equal(
                getattr(ours.fixed, part), mask.numpy().reshape(len(ours.labels), -1)
            )


def test_a_data_folder_stays_untouched(data_folder):
    before = snapshot(data_folder)
    for name in REAL:
        load(name, data=data_folder)
    assert snapshot(data_folder) == before


def test_cora_has_one_zero_for_each_component(data_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where spectra are kept
    graph = load("cora", "undirected", data_folder)
    found = spectrum_of(graph)
    n = graph.num_nodes
    adjacency = sp.csr_array((np.ones(graph.edges.shape[1]), tuple(graph.edges)), shape=(n, n))
    components, _ = connected_components(adjacency, directed=False)
    assert components == 78
    assert np.count_nonzero(found.values < 1e-9) == components
    assert found.values.max() <= 2
    u = found.vectors
    assert np.abs(u.T @ u - np.eye(n)).max() < 1e-5
    x = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    filtered = u @ (found.values[:, None] * (u.T @ x))
    assert np.abs(filtered - laplacian(graph) @ x).max() < 1e-4
