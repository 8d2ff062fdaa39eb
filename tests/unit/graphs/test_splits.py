from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from clar_tune.errors import GraphError, ParameterError, UnknownName
from clar_tune.graphs import splits
from clar_tune.graphs.catalogue import DATASETS
from clar_tune.graphs.graph import FixedSplits, Graph
from clar_tune.graphs.loading import load_raw
from clar_tune.graphs.splits import PROTOCOLS, check_protocol, check_split, search_nodes, seed_pair

DRAWN = [name for name, protocol in PROTOCOLS.items() if protocol.draw]
LABELS = st.lists(st.integers(0, 4), min_size=10, max_size=300)
SEEDS = st.integers(0, 2**56 - 1)
TEXAS = [0] * 33 + [1] + [2] * 18 + [3] * 101 + [4] * 30


def graph_of(labels, name: str = "cs", fixed: FixedSplits | None = None) -> Graph:
    features = sp.csr_array((len(labels), 1), dtype=np.float32)
    return Graph(name, features, np.zeros((2, 1), np.int64), np.array(labels), fixed=fixed)


def sets_of(graph: Graph, protocol: str, seed: int, outer: float = 0.0) -> list[np.ndarray]:
    search = search_nodes(graph, protocol, seed, outer)
    return [search.train, search.val, splits.test_nodes(graph, protocol, seed, outer)]


def sizes(sets) -> list[int]:
    return [len(nodes) for nodes in sets]


@pytest.mark.parametrize("protocol", DRAWN)
@given(labels=LABELS, seed=SEEDS)
def test_drawn_splits_divide_all_nodes(protocol, labels, seed):
    sets = sets_of(graph_of(labels), protocol, seed)
    assert sorted(np.concatenate(sets).tolist()) == list(range(len(labels)))
    for nodes in sets:
        assert nodes.dtype == np.int64
        assert (np.diff(nodes) > 0).all()


@pytest.mark.parametrize("protocol", DRAWN)
@given(labels=LABELS, seed=SEEDS)
def test_a_split_seed_decides_a_split(protocol, labels, seed):
    first, second = (sets_of(graph_of(labels), protocol, seed) for _ in range(2))
    assert all(map(np.array_equal, first, second))


@given(labels=LABELS, seed=SEEDS)
def test_balanced_takes_equal_numbers_per_class(labels, seed):
    graph = graph_of(labels)
    train, val, _ = sets_of(graph, "balanced-60-20-20", seed)
    quota = int(0.6 * len(labels) / graph.num_classes + 1e-9)
    wanted = np.minimum(np.bincount(labels, minlength=graph.num_classes), quota)
    assert np.bincount(graph.labels[train], minlength=len(wanted)).tolist() == wanted.tolist()
    assert len(val) == int(0.2 * len(labels) + 1e-9)


@given(labels=LABELS, seed=SEEDS)
def test_random_takes_sixty_and_twenty_percent(labels, seed):
    train, val, _ = sizes(sets_of(graph_of(labels), "random-60-20-20", seed))
    assert (train, val) == (int(0.6 * len(labels) + 1e-9), int(0.2 * len(labels) + 1e-9))


@given(labels=LABELS, seed=SEEDS)
def test_coauthor_takes_twenty_and_thirty_per_class(labels, seed):
    graph = graph_of(labels)
    train, val, _ = sets_of(graph, "coauthor-20-30", seed)
    has = np.bincount(labels, minlength=5)
    assert np.bincount(graph.labels[train], minlength=5).tolist() == has.clip(max=20).tolist()
    rest = (has - 20).clip(min=0, max=30)
    assert np.bincount(graph.labels[val], minlength=5).tolist() == rest.tolist()


@pytest.mark.parametrize("protocol", ["balanced-60-20-20", "random-60-20-20"])
def test_validation_nodes_are_like_test_nodes(protocol):
    """Whatever training takes of each class, the rest is divided by chance alone."""
    graph = graph_of(TEXAS, "texas")
    majority = np.bincount(TEXAS).argmax()
    shares = np.array(
        [
            [np.mean(graph.labels[nodes] == majority) for nodes in sets_of(graph, protocol, seed)]
            for seed in range(200)
        ]
    )
    _, val, test = shares.mean(axis=0)
    assert abs(val - test) < 0.02
    assert shares[:, 1].std() > 0


def test_texas_balanced_has_82_36_and_65_nodes():
    assert sizes(sets_of(graph_of(TEXAS, "texas"), "balanced-60-20-20", 7)) == [82, 36, 65]


@pytest.mark.parametrize("name", DATASETS)
def test_sizes_equal_the_formula_on_every_graph_in_the_table(name):
    nodes, classes = DATASETS[name].facts.nodes, DATASETS[name].facts.classes
    labels = np.arange(nodes) % classes
    train, val, _ = sizes(sets_of(graph_of(labels, name), "balanced-60-20-20", 0))
    assert (train, val) == (classes * int(0.6 * nodes / classes), int(0.2 * nodes))


def test_different_seeds_give_different_splits():
    graph = graph_of(TEXAS, "texas")
    first, second = (search_nodes(graph, "random-60-20-20", seed).train for seed in (0, 1))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("protocol", DRAWN)
def test_every_node_is_drawn_equally_often(protocol):
    graph = graph_of([0] * 60 + [1] * 60)
    drawn = [search_nodes(graph, protocol, seed).train for seed in range(400)]
    counts = np.bincount(np.concatenate(drawn), minlength=120)
    share = counts.sum() / 120
    assert np.abs(counts - share).max() < 5 * np.sqrt(share)


@pytest.mark.parametrize("protocol", DRAWN)
@given(labels=LABELS, seed=SEEDS, outer=st.sampled_from([0.1, 0.2, 0.5]))
def test_withheld_nodes_are_the_only_test_nodes_and_never_searched(protocol, labels, seed, outer):
    graph = graph_of(labels)
    train, val, test = sets_of(graph, protocol, seed, outer)
    assert len(test) == int(outer * len(labels))
    assert not set(test.tolist()) & {*train.tolist(), *val.tolist()}
    other = splits.test_nodes(graph, "random-60-20-20", seed + 1, outer)
    assert np.array_equal(test, other)


def test_withheld_nodes_depend_on_the_graph_name_without_its_version():
    named = ["cornell", "cornell@1a2b3c4d", "texas"]
    one, version, other = (
        splits.test_nodes(graph_of(TEXAS, name), "random-60-20-20", 0, 0.2) for name in named
    )
    assert np.array_equal(one, version)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("outer", [-0.1, 1.0, float("nan"), 0.001])
def test_impossible_outer_tests_are_refused(outer):
    with pytest.raises(ParameterError, match="outer_test"):
        search_nodes(graph_of(TEXAS), "random-60-20-20", 0, outer)


def ten_splits(count: int) -> FixedSplits:
    part = (np.arange(count)[:, None] + np.arange(10)) % 5
    return FixedSplits(part < 3, part == 3, part == 4)


def test_fixed_splits_are_the_columns_of_the_masks():
    graph = graph_of([0, 1] * 5, "texas", ten_splits(10))
    train, val, test = (nodes.tolist() for nodes in sets_of(graph, "geom-gcn", 1))
    assert (train, val, test) == ([0, 1, 4, 5, 6, 9], [2, 7], [3, 8])


def test_fixed_splits_refuse_what_they_do_not_have():
    graph = graph_of([0, 1] * 5, "texas", ten_splits(10))
    with pytest.raises(ParameterError, match="0 to 9"):
        search_nodes(graph, "geom-gcn", 10)
    with pytest.raises(ParameterError, match="own test nodes"):
        splits.test_nodes(graph, "geom-gcn", 0, outer_test=0.2)
    with pytest.raises(GraphError, match="comes with 0 splits"):
        search_nodes(graph_of([0, 1] * 5, "texas"), "geom-gcn", 0)
    with pytest.raises(ParameterError, match="split_seed=-1"):
        search_nodes(graph, "random-60-20-20", -1)


def test_protocols_are_defined_where_the_methods_page_says():
    table = {
        "planetoid": {"cora", "citeseer", "pubmed"},
        "coauthor-20-30": {"cs", "physics"},
        "geom-gcn": {"actor", "chameleon", "squirrel", "cornell", "texas"},
        "fixed-10": {"chameleon-filtered", "squirrel-filtered", "minesweeper", "tolokers"},
    }
    for name, protocol in PROTOCOLS.items():
        applies = {graph for graph in DATASETS if protocol.applies_to(graph)}
        assert applies == table.get(name, set(DATASETS))


def test_what_differences_are_independent_over():
    units = {name: protocol.units for name, protocol in PROTOCOLS.items()}
    assert units == {
        "balanced-60-20-20": "split",
        "random-60-20-20": "split",
        "planetoid": "seed",
        "coauthor-20-30": "split",
        "geom-gcn": "file",
        "fixed-10": "file",
        "whole-graph": "seed",
    }


def test_a_protocol_that_does_not_fit_names_the_graphs_and_protocols_that_do():
    check_protocol("cornell@1a2b3c4d", "geom-gcn")
    with pytest.raises(ParameterError) as refusal:
        check_protocol("cornell-corrected", "fixed-10")
    assert "chameleon-filtered, squirrel-filtered, minesweeper, tolokers" in str(refusal.value)
    assert "balanced-60-20-20, random-60-20-20" in str(refusal.value)
    with pytest.raises(UnknownName, match="Did you mean 'geom-gcn'"):
        check_protocol("texas", "geomgcn")


def test_a_balanced_split_that_leaves_one_class_to_be_scored_is_refused():
    unbalanced = replace(graph_of([0] * 80 + [1] * 20, name="minesweeper"), metric="roc_auc")
    check_split(replace(unbalanced, metric="accuracy"), "balanced-60-20-20")
    check_split(unbalanced, "random-60-20-20")
    check_split(replace(graph_of([0, 1] * 50), metric="roc_auc"), "balanced-60-20-20")
    with pytest.raises(ParameterError) as refusal:
        check_split(unbalanced, "balanced-60-20-20")
    assert "validation nodes of minesweeper are of one class" in str(refusal.value)
    assert str(refusal.value).endswith("Choose random-60-20-20 or fixed-10.")


def test_a_split_without_nodes_to_train_or_validate_is_refused():
    check_split(graph_of([0, 1] * 50), "balanced-60-20-20", 0.9)
    with pytest.raises(
        ParameterError, match="with 0.99 of all nodes withheld: 0 nodes of cs .*fewer"
    ):
        check_split(graph_of([0, 1] * 50), "balanced-60-20-20", 0.99)


def test_pairs_of_repeats_and_finals_are_all_different():
    found = [
        seed_pair("texas", "random-60-20-20", seed, index, purpose)
        for seed in (0, 1)
        for index in range(20)
        for purpose in ("repeat", "final")
    ]
    seeds = [seed for both in found for seed in both]
    assert len(set(seeds)) == len(seeds) == 160
    assert max(seeds) < 2**63
    assert seed_pair("texas", "random-60-20-20", 0, 0, "repeat") == found[0]


def test_fixed_splits_are_taken_in_turn_with_fresh_init_seeds():
    found = [seed_pair("texas", "geom-gcn", 0, index, "final") for index in range(20)]
    assert [split for split, _ in found] == [*range(10), *range(10)]
    assert len({init for _, init in found}) == 20
    assert [seed_pair("cora", "planetoid", 0, index, "repeat")[0] for index in range(3)] == [
        0,
        0,
        0,
    ]


def test_pairs_refuse_unknown_purposes_and_unfitting_protocols():
    with pytest.raises(UnknownName, match="repeat"):
        seed_pair("texas", "geom-gcn", 0, 0, "finals")
    with pytest.raises(ParameterError, match="planetoid"):
        seed_pair("texas", "planetoid", 0, 0, "final")


@pytest.mark.parametrize(
    ("name", "protocol", "expected"),
    [
        ("cora", "planetoid", [140, 500, 1000]),
        ("citeseer", "planetoid", [120, 500, 1000]),
        ("texas", "geom-gcn", [87, 59, 37]),
        ("texas", "balanced-60-20-20", [82, 36, 65]),
        ("cs", "coauthor-20-30", [300, 450, 17583]),
        ("minesweeper", "fixed-10", [5000, 2500, 2500]),
    ],
)
def test_sizes_on_real_graphs(data_folder, name, protocol, expected):
    assert sizes(sets_of(load_raw(name, data_folder), protocol, 0)) == expected
