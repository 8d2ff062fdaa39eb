import torch

from clar_tune.models.adjacency import Adjacency, averaging, normalised, smoothing

PATH = torch.tensor([[0, 1], [1, 2]])  # 0 -> 1 -> 2, and node 3 alone
F32 = torch.float32


def test_doubles_merge_and_self_loops_go():
    edges = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 0]])
    graph = Adjacency.of(edges, 2)
    assert graph.edge_index.tolist() == [[1, 0], [0, 1]]
    assert graph.symmetric


def test_a_directed_graph_is_symmetrised_on_request():
    graph = Adjacency.of(PATH, 4)
    assert not graph.symmetric
    assert graph.symmetrised.symmetric
    assert len(graph.symmetrised.pattern.indices) == 4
    assert graph.symmetrised.symmetrised is graph.symmetrised


def test_rows_are_targets():
    assert Adjacency.of(PATH, 4).pattern.rows.tolist() == [1, 2]


def test_smoothing_of_a_path_has_degrees_with_self_loops():
    dense = Adjacency.of(PATH, 4).symmetrised.derived(smoothing, F32).to_dense()
    expected = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1.0]])
    root = torch.tensor([2, 3, 2, 1.0]).rsqrt()
    assert torch.allclose(dense, root[:, None] * expected * root)


def test_normalised_leaves_an_isolated_node_empty():
    dense = Adjacency.of(PATH, 4).symmetrised.derived(normalised, F32).to_dense()
    assert dense[3].abs().sum() == 0
    assert torch.allclose(dense[0, 1], torch.tensor(2.0).rsqrt())


def test_averaging_rows_sum_to_one_or_to_zero():
    dense = Adjacency.of(PATH, 4).symmetrised.derived(averaging, F32).to_dense()
    assert dense.sum(1).tolist() == [1, 1, 1, 0]


def test_what_is_derived_is_built_once():
    graph = Adjacency.of(PATH, 4)
    assert graph.derived(smoothing, F32) is graph.derived(smoothing, F32)
    assert graph.derived(smoothing, F32) is not graph.derived(smoothing, torch.float64)


def test_thinning_drops_both_directions_of_a_pair():
    graph = Adjacency.of(PATH, 4).symmetrised
    number, count = graph.pairs
    assert count == 2
    keep = torch.tensor([False, True])
    assert graph.thinned(keep).edge_index.tolist() == [[2, 1], [1, 2]]
    assert graph.thinned(keep).symmetric
