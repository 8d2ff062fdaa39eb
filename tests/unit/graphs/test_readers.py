import io
import pickle
import struct
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from clar_tune.errors import GraphError
from clar_tune.graphs.readers import (
    RawGraph,
    read_actor,
    read_geom_gcn,
    read_heterophilous,
    read_planetoid,
    read_shchur,
)


class Python2Pickler(pickle._Pickler):
    """Writes bytes as Python 2 wrote its strings, as in Planetoid's files."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_bytes(self, value):
        self.write(b"T" + struct.pack("<i", len(value)) + value)
        self.memoize(value)

    dispatch[bytes] = save_bytes


def write_pickle(path: Path, value) -> None:
    stream = io.BytesIO()
    Python2Pickler(stream, protocol=2).dump(value)
    old = stream.getvalue().replace(b"numpy._core.", b"numpy.core.")
    path.write_bytes(old.replace(b"scipy.sparse._csr\n", b"scipy.sparse.csr\n"))


def planetoid_files(folder: Path) -> list[Path]:
    """Three nodes in allx, then test nodes 5 and 3; node 4 has no row, as in CiteSeer."""
    near = defaultdict(list, {0: [1, 1, 0], 1: [0], 2: [5], 5: [2], 3: [], 4: []})
    values = {
        "x": sp.csr_matrix(np.eye(1, 4)),
        "tx": sp.csr_matrix(np.array([[0, 0, 0, 0.5], [0, 0, 2.0, 0]])),
        "allx": sp.csr_matrix(np.eye(3, 4)),
        "y": np.array([[0, 1]]),
        "ty": np.array([[0, 1], [1, 0]]),
        "ally": np.array([[0, 1], [1, 0], [0, 1]]),
        "graph": near,
    }
    for part, value in values.items():
        write_pickle(folder / f"ind.six.{part}", value)
    (folder / "ind.six.test.index").write_text("5\n3\n")
    return [folder / f"ind.six.{part}" for part in (*values, "test.index")]


def shchur_files(folder: Path) -> list[Path]:
    attr = sp.csr_array(np.array([[3.0, 0, 0], [0, 0.5, 0], [1, 0, 2]], np.float32))
    adj = sp.csr_array(np.array([[1, 1, 0], [0, 0, 1], [0, 1, 0]], np.float32))
    parts = {
        f"{prefix}_{part}": getattr(matrix, part)
        for prefix, matrix in (("attr", attr), ("adj", adj))
        for part in ("data", "indices", "indptr", "shape")
    }
    np.savez(folder / "graph.npz", labels=np.array([0, 1, 1]), **parts)
    return [folder / "graph.npz"]


def write_splits(folder: Path) -> list[Path]:
    for number in range(10):
        part = (np.arange(3) + number) % 3
        masks = {f"{name}_mask": part == i for i, name in enumerate(("train", "val", "test"))}
        masks = {name: mask.astype(np.uint8) for name, mask in masks.items()}
        np.savez(folder / f"split_{number}.npz", **masks)
    return [folder / f"split_{number}.npz" for number in range(10)]


def geom_gcn_files(folder: Path) -> list[Path]:
    nodes, edges = folder / "nodes.txt", folder / "edges.txt"
    nodes.write_text("node_id\tfeature\tlabel\n0\t0,1,0,0\t1\n1\t0,0,0,0\t0\n2\t1,0,1,0\t1\n")
    edges.write_text("node_id\tnode_id\n0\t1\n0\t1\n2\t2\n2\t0\n")
    return [nodes, edges, *write_splits(folder)]


def actor_files(folder: Path) -> list[Path]:
    nodes, edges = folder / "nodes.txt", folder / "edges.txt"
    nodes.write_text("node_id\tfeature\tlabel\n2\t4,0,4\t1\n0\t1\t1\n1\t0,2\t0\n")
    edges.write_text("node_id\tnode_id\n0\t1\n2\t2\n")
    return [nodes, edges, *write_splits(folder)]


def heterophilous_files(folder: Path) -> list[Path]:
    masks = {f"{part}_masks": np.eye(10, 3, k, bool) for k, part in enumerate(("train", "val"))}
    np.savez(
        folder / "graph.npz",
        node_features=np.array([[0, 1.5], [0, 0], [-1, 0]], np.float32),
        node_labels=np.array([0, 1, 0]),
        edges=np.array([[0, 1], [1, 2]]),
        test_masks=np.zeros((10, 3), bool),
        **masks,
    )
    return [folder / "graph.npz"]


FORMATS = {
    "planetoid": (planetoid_files, read_planetoid),
    "shchur": (shchur_files, read_shchur),
    "geom-gcn": (geom_gcn_files, read_geom_gcn),
    "actor": (actor_files, read_actor),
    "heterophilous": (heterophilous_files, read_heterophilous),
}


def edge_set(graph: RawGraph) -> set[tuple[int, int]]:
    return set(zip(*graph.edges.tolist(), strict=True))


def test_planetoid_places_test_rows_and_fills_gaps(tmp_path):
    graph = read_planetoid(planetoid_files(tmp_path))
    dense = np.zeros((6, 4))
    dense[[0, 1, 2, 3, 5], [0, 1, 2, 2, 3]] = 1, 1, 1, 2, 0.5
    assert np.array_equal(graph.features.toarray(), dense)
    assert graph.labels.tolist() == [1, 0, 1, 0, 0, 1]
    assert edge_set(graph) == {(0, 1), (1, 0), (2, 5), (5, 2)}
    assert np.flatnonzero(graph.fixed.train).tolist() == [0]
    assert np.flatnonzero(graph.fixed.val).tolist() == [1, 2, 3, 4, 5]
    assert np.flatnonzero(graph.fixed.test).tolist() == [3, 5]


def test_shchur_counts_positive_features_as_one_and_joins_both_ways(tmp_path):
    graph = read_shchur(shchur_files(tmp_path))
    assert graph.features.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 1]]
    assert edge_set(graph) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert graph.fixed is None


def test_geom_gcn_keeps_directions_and_self_loops(tmp_path):
    graph = read_geom_gcn(geom_gcn_files(tmp_path))
    assert graph.features.toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    assert graph.labels.tolist() == [1, 0, 1]
    assert edge_set(graph) == {(0, 1), (2, 2), (2, 0)}
    assert graph.fixed.count == 10
    assert graph.fixed.val[:, 1].tolist() == [True, False, False]


def test_actor_sorts_nodes_by_id(tmp_path):
    graph = read_actor(actor_files(tmp_path))
    assert graph.features.toarray().tolist() == [[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 1]]
    assert graph.labels.tolist() == [1, 0, 1]


def test_heterophilous_keeps_values_and_joins_both_ways(tmp_path):
    graph = read_heterophilous(heterophilous_files(tmp_path))
    assert graph.features.toarray().tolist() == [[0, 1.5], [0, 0], [-1, 0]]
    assert edge_set(graph) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert graph.fixed.train.shape == (3, 10)


@pytest.mark.parametrize("name", FORMATS)
def test_features_are_canonical(name, tmp_path):
    write, read = FORMATS[name]
    features = read(write(tmp_path)).features
    assert isinstance(features, sp.csr_array)
    assert features.dtype == np.float32
    assert features.has_canonical_format
    assert (features.data != 0).all()


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_file_is_named(name, tmp_path):
    write, read = FORMATS[name]
    paths = write(tmp_path)
    for path in paths:
        content = path.read_bytes()
        path.unlink()
        with pytest.raises(GraphError, match=f"{path.name} is missing. Put it there"):
            read(paths)
        path.write_bytes(content)


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_or_foreign_file_is_named(name, tmp_path):
    write, read = FORMATS[name]
    paths = write(tmp_path)
    for path in paths:
        content = path.read_bytes()
        for wrong in (b"", b"<!DOCTYPE html>\n", b"\x00\xff" * 50, b"\x80\x02]q\x00."):
            path.write_bytes(wrong)
            with pytest.raises(GraphError, match=f"{path.name} is damaged"):
                read(paths)
        path.write_bytes(content)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FORMATS)
def test_no_damage_gives_another_error(name, tmp_path):
    """A file cut at, or changed in, any byte is read (its hash differs then) or refused."""
    write, read = FORMATS[name]
    paths = write(tmp_path)
    for path in paths[:8]:
        content = path.read_bytes()
        for at in range(0, len(content), 1 + len(content) // 60):
            changed = content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]
            for damaged in (content[:at], changed):
                path.write_bytes(damaged)
                try:
                    read(paths)
                except GraphError as error:
                    assert "\n" not in str(error)
        path.write_bytes(content)


class Malicious:
    def __reduce__(self):
        return (Path.touch, (Path("unpickled"),))


@pytest.mark.parametrize("value", [Malicious(), {1, 2}, len, np.random.PCG64])
def test_nothing_but_arrays_is_unpickled(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = planetoid_files(tmp_path)
    write_pickle(paths[2], value)
    with pytest.raises(GraphError, match="ind.six.allx is damaged .* not allowed"):
        read_planetoid(paths)
    assert not Path("unpickled").exists()


def test_unpickling_leaves_numpys_own_types_alone(tmp_path):
    paths = planetoid_files(tmp_path)
    write_pickle(paths[3], np.array([[0, 1]], dtype=">i8"))
    read_planetoid(paths)
    assert np.dtype("i8").isnative


def test_matrices_with_indices_out_of_range_are_refused(tmp_path):
    matrix = sp.csr_matrix(np.eye(3, 4))
    matrix.indices[0] = 4000
    paths = planetoid_files(tmp_path)
    write_pickle(paths[2], matrix)
    with pytest.raises(GraphError, match="ind.six.allx is damaged"):
        read_planetoid(paths)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0,1,0,0", "0,2,0,0"),
        ("0,1,0,0", "0,1,0"),
        ("0,1,0,0", "0,1,0,"),
        ("0,1,0,0", "0.1.0.0"),
        ("0,1,0,0\t1", "0,1,0,0\tone"),
        ("0,1,0,0\t1", "0,1,0,0\t-1"),
        ("0,1,0,0\t1", "0,1,0,0"),
        ("1,0,1,0\t1\n", "1,0,1,0\t1"),
    ],
)
def test_wrong_node_rows_are_refused(old, new, tmp_path):
    paths = geom_gcn_files(tmp_path)
    paths[0].write_text(paths[0].read_text().replace(old, new))
    with pytest.raises(GraphError, match="damaged"):
        read_geom_gcn(paths)


@pytest.mark.parametrize("row", ["0\t3", "-1\t0", "0", "0\t1\t2", "a\tb", "0,1"])
def test_wrong_edge_rows_are_refused(row, tmp_path):
    paths = geom_gcn_files(tmp_path)
    paths[1].write_text(f"node_id\tnode_id\n{row}\n")
    with pytest.raises(GraphError, match="edges.txt is damaged"):
        read_geom_gcn(paths)


def test_windows_line_ends_are_read_alike(tmp_path):
    paths = geom_gcn_files(tmp_path)
    expected = read_geom_gcn(paths)
    for path in paths[:2]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = read_geom_gcn(paths)
    assert np.array_equal(found.features.toarray(), expected.features.toarray())
    assert np.array_equal(found.edges, expected.edges)
