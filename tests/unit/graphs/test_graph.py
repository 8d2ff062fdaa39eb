from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from clar_tune.errors import UnknownName
from clar_tune.graphs.graph import (
    FixedSplits,
    Graph,
    merge_duplicates,
    preprocess,
    row_normalised,
)

NODES = 6
EDGE_LISTS = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), min_size=1, max_size=20
)


def graph_of(edges, fixed=None) -> Graph:
    features = sp.csr_array(np.array([[2, 0, 2], [0, 0, 0], [0, 5, 0]] * 2, np.float32))
    labels = np.array([0, 1, 0, 1, 0, 1])
    return Graph("six", features, np.array(edges, np.int64).T, labels, fixed=fixed)


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    return set(zip(*graph.edges.tolist(), strict=True))


def test_undirected_adds_reverses_merges_duplicates_and_drops_self_loops():
    graph = preprocess(graph_of([(0, 1), (0, 1), (1, 0), (2, 3), (4, 4)]), "undirected")
    assert graph.edges.tolist() == [[1, 0, 3, 2], [0, 1, 2, 3]]
    assert graph.is_symmetric


def test_released_keeps_directions():
    graph = preprocess(graph_of([(0, 1), (0, 1), (2, 3), (4, 4)]), "released")
    assert edge_set(graph) == {(0, 1), (2, 3)}
    assert not graph.is_symmetric


def test_preprocessing_does_not_change_the_raw_graph():
    raw = graph_of([(0, 1), (4, 4)])
    before = raw.hash
    preprocess(raw, "undirected")
    assert replace(raw).hash == before


def test_isolated_nodes_stay():
    graph = preprocess(graph_of([(0, 1)]), "undirected")
    assert graph.num_nodes == 6
    assert graph.features.shape == (6, 3)


def test_rows_sum_to_one_and_empty_rows_stay_empty():
    rows = row_normalised(graph_of([(0, 1)]).features)
    assert rows.toarray()[:3].tolist() == [[0.5, 0, 0.5], [0, 0, 0], [0, 1, 0]]
    assert rows.dtype == np.float32


@pytest.mark.parametrize("name", ["chameleon", "squirrel@1a2b3c4d"])
def test_the_released_code_leaves_some_features_as_they_are(name):
    raw = replace(graph_of([(0, 1), (2, 3)]), name=name)
    usual, released = (preprocess(raw, kind) for kind in ("undirected", "released"))
    assert (released.features != raw.features).nnz == 0
    assert (usual.features != raw.features).nnz > 0
    assert len({raw.hash, usual.hash, released.hash}) == 3
    other = preprocess(replace(raw, name="chameleon-filtered"), "released")
    assert (other.features != usual.features).nnz == 0


def test_unknown_preprocessing_is_refused():
    with pytest.raises(UnknownName, match="undirected"):
        preprocess(graph_of([(0, 1)]), "undirectd")


def test_counts_and_homophily():
    graph = graph_of([(0, 2), (0, 1), (1, 3), (5, 0)])
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (6, 3, 2)
    assert graph.homophily == 0.5


def test_merged_edges_are_sorted_by_target_then_source():
    edges = np.array([[3, 1, 2, 1], [0, 2, 0, 2]])
    assert merge_duplicates(edges, 4).tolist() == [[2, 3, 1], [0, 0, 2]]


@given(EDGE_LISTS, st.randoms(use_true_random=False))
def test_hash_does_not_see_edge_order_or_direction_once_undirected(edges, random):
    shuffled = [edge if random.random() < 0.5 else edge[::-1] for edge in edges]
    random.shuffle(shuffled)
    first, second = (preprocess(graph_of(listed), "undirected") for listed in (edges, shuffled))
    assert first.hash == second.hash


@given(EDGE_LISTS)
def test_hash_does_not_see_index_types(edges):
    graph = graph_of(edges)
    x = graph.features
    wide = sp.csr_array(
        (x.data, x.indices.astype(np.int64), x.indptr.astype(np.int64)), shape=x.shape
    )
    narrow = replace(
        graph,
        features=wide,
        edges=np.asfortranarray(graph.edges.astype(np.int32)),
        labels=graph.labels.astype(np.int8),
    )
    assert narrow.hash == graph.hash


@given(st.data())
def test_hash_sees_every_entry(data):
    masks = np.zeros((3, NODES, 2), np.bool_)
    graph = graph_of([(0, 1), (2, 3)], FixedSplits(*masks))
    arrays = {
        "data": graph.features.data.copy(),
        "edges": graph.edges.copy(),
        "labels": graph.labels.copy(),
        "masks": masks.copy(),
    }
    changed = data.draw(st.sampled_from(list(arrays)))
    entry = data.draw(st.integers(0, arrays[changed].size - 1))
    arrays[changed].flat[entry] = arrays[changed].flat[entry] == 0
    features = sp.csr_array(graph.features)
    features.data = arrays["data"]
    other = replace(
        graph,
        features=features,
        edges=arrays["edges"],
        labels=arrays["labels"],
        fixed=FixedSplits(*arrays["masks"]),
    )
    assert other.hash != graph.hash


def test_hash_sees_preprocessing_metric_and_splits():
    graph = graph_of([(0, 1), (1, 0)])
    masks = np.zeros((3, NODES, 1), np.bool_)
    others = [
        preprocess(graph, "undirected"),
        preprocess(graph, "released"),
        replace(graph, metric="roc_auc"),
        replace(graph, fixed=FixedSplits(*masks)),
    ]
    assert len({graph.hash, *(other.hash for other in others)}) == 5


def test_the_tiny_graph_is_undirected_with_one_isolated_node(tiny_graph):
    assert tiny_graph.is_symmetric
    assert set(range(8)) - set(tiny_graph.edges[0].tolist()) == {7}
    assert np.bincount(tiny_graph.labels).tolist() == [4, 4]
