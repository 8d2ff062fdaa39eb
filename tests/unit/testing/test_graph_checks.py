"""Every fault of a graph is caught by a check of its own, in one sentence."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp

from clar_tune.graphs import Graph, apply_variants, load_raw, preprocess
from clar_tune.graphs.graph import FixedSplits
from clar_tune.testing import check_graph

NODES = 10
RING = np.stack([np.arange(NODES), (np.arange(NODES) + 1) % NODES])
WORDS = sp.csr_array(np.eye(NODES, 4, dtype=np.float32))
MASKS = np.arange(NODES)[:, None] % 3 == np.arange(3)  # [N, 3]: train, val, test


def graph(**changes) -> Graph:
    """A ring of two classes without fault, with two splits of its own, or with changes."""
    train, val, test = (np.repeat(MASKS[:, [part]], 2, axis=1) for part in range(3))
    right = Graph(
        name="mine",
        features=WORDS,
        edges=RING,
        labels=np.arange(NODES) % 2,
        fixed=FixedSplits(train, val, test),
    )
    return replace(right, **changes)


def with_entry(features: sp.csr_array, value: float) -> sp.csr_array:
    changed = features.copy()
    changed.data[0] = value
    return changed


def with_masks(**masks: np.ndarray) -> FixedSplits:
    return replace(graph().fixed, **masks)


def unsorted() -> sp.csr_array:
    return sp.csr_array(
        (np.ones(2, np.float32), np.array([3, 1]), np.array([0] + [2] * NODES)), shape=(NODES, 4)
    )


class NamedByItsName(Graph):
    """Its hash knows nothing of its content."""

    hash = "mine"


class NeverTheSame(Graph):
    numbers = count()

    @property
    def hash(self) -> str:
        return str(next(self.numbers))


def as_class(kind: type[Graph]) -> Graph:
    right = graph()
    return kind(right.name, right.features, right.edges, right.labels)


NUMBERS = np.ones((NODES, 2), np.float32)
FAULTS = {
    "labels of another type": (
        lambda: graph(labels=np.arange(NODES, dtype=np.int32) % 2),
        r"labels must be a numpy array \[any\] of int64, got \[10\] of int32\.",
    ),
    "labels in a list": (
        lambda: graph(labels=[0, 1] * 5),
        r"labels must be a numpy array \[any\] of int64, got list\.",
    ),
    "no nodes": (
        lambda: graph(labels=np.zeros(0, np.int64)),
        r"there must be nodes, got none\.",
    ),
    "classes from one": (
        lambda: graph(labels=1 + np.arange(NODES) % 2),
        r"classes must be numbered from 0 without a gap, got labels \[1, 2\]\.",
    ),
    "a class without nodes": (
        lambda: graph(labels=np.arange(NODES) % 2 * 2),
        r"classes must be numbered from 0 without a gap, got labels \[0, 2\]\.",
    ),
    "dense features": (
        lambda: graph(features=WORDS.toarray()),
        r"features must be a scipy csr_array \[10, any\] of float32, got ndarray\.",
    ),
    "features of another type": (
        lambda: graph(features=WORDS.astype(np.float64)),
        r"features must be a scipy csr_array .* of float32, got \[10, 4\] of float64\.",
    ),
    "too few rows of features": (
        lambda: graph(features=WORDS[:9]),
        r"features must be a scipy csr_array \[10, any\] .*, got \[9, 4\] of float32\.",
    ),
    "no features": (lambda: graph(features=WORDS[:, :0]), r"there must be features, got none\."),
    "unsorted features": (
        lambda: graph(features=unsorted()),
        r"columns of features must be sorted .*, got others: call sum_duplicates\(\)\.",
    ),
    "infinite features": (
        lambda: graph(features=with_entry(WORDS, np.inf)),
        r"features must be finite, got 1 entries that are not\.",
    ),
    "features infinite when normalised": (
        lambda: graph(features=sp.csr_array(np.float32([[1e-10, 1e30, -1e30]] * NODES))),
        r"features preprocessed as undirected must be finite, got 20 entries that are not\.",
    ),
    "features of a variant for other nodes": (
        lambda: graph(origin="a recipe", features=NUMBERS[1:]),
        r"features must be a numpy array \[10, any\] of float32, got \[9, 2\] of float32\.",
    ),
    "infinite features of a variant": (
        lambda: graph(origin="a recipe", features=NUMBERS * np.inf),
        r"features must be finite, got 20 entries that are not\.",
    ),
    "edges in rows": (
        lambda: graph(edges=RING.T.copy()),
        r"edges must be a numpy array \[2, any\] of int64, got \[10, 2\] of int64\.",
    ),
    "an edge to nowhere": (
        lambda: graph(edges=RING + 1),
        r"edges must join nodes from 0 to 9, got 1 to 10\.",
    ),
    "a negative node": (
        lambda: graph(edges=RING - 1),
        r"edges must join nodes from 0 to 9, got -1 to 8\.",
    ),
    "an unknown metric": (
        lambda: graph(metric="f1"),
        r"the metric must be one of accuracy, roc_auc, mse, got f1\.",
    ),
    "targets of another task": (
        lambda: graph(targets=NUMBERS),
        r"targets if and only if its metric is mse, got accuracy with targets\.",
    ),
    "no targets": (lambda: graph(metric="mse"), r"its metric is mse, got mse without targets\."),
    "infinite targets": (
        lambda: graph(metric="mse", targets=NUMBERS * np.nan),
        r"targets must be finite, got 20 entries that are not\.",
    ),
    "targets of other nodes": (
        lambda: graph(metric="mse", targets=NUMBERS[1:]),
        r"targets must be a numpy array \[10, any\] of float32, got \[9, 2\] of float32\.",
    ),
    "three classes for roc_auc": (
        lambda: graph(metric="roc_auc", labels=np.arange(NODES) % 3),
        r"roc_auc needs two classes, got 3\.",
    ),
    "masks of numbers": (
        lambda: graph(fixed=with_masks(val=np.ones((NODES, 2), np.int64))),
        r"val masks must be a numpy array \[10, any\] of bool, got \[10, 2\] of int64\.",
    ),
    "masks of fewer splits": (
        lambda: graph(fixed=with_masks(test=MASKS[:, [2]])),
        r"equally many train, val and test masks, got \[2, 2, 1\]\.",
    ),
    "a split without validation": (
        lambda: graph(fixed=with_masks(val=MASKS[:, [1, 1]] & [True, False])),
        r"split 1 must have training, validation and test nodes, got 4 train, 0 val, 3 test\.",
    ),
    "overlapping masks": (
        lambda: graph(fixed=with_masks(test=MASKS[:, [2, 1]])),
        r"test nodes of split 1 must be disjoint, got 3 that are in two of them, such as node 1\.",
    ),
    "a hash of the name": (
        lambda: as_class(NamedByItsName),
        r"hash must be another for other content, got the same for other features and edges and",
    ),
    "a hash that changes": (
        lambda: as_class(NeverTheSame),
        r"a copy must have the hash \d+, got \d+\.",
    ),
    "an unknown preprocessing": (
        lambda: graph(preprocessing="mine"),
        r"preprocessing must be one of raw, undirected, released, got mine\.",
    ),
    "self-loops": (
        lambda: graph(preprocessing="released", edges=RING * [[1], [0]] + [[0], [3]]),
        r"preprocessed as released it must have no self-loops, got 1\.",
    ),
    "an edge twice": (
        lambda: graph(preprocessing="released", edges=np.concatenate([RING, RING], axis=1)),
        r"preprocessed as released it must list each edge once, got 10 more\.",
    ),
    "edges in one direction": (
        lambda: graph(preprocessing="undirected"),
        r"preprocessed as undirected each edge must stand in both directions, got some in one",
    ),
    "too few nodes to divide": (
        lambda: Graph("mine", WORDS[:4], RING[:, :3], np.array([0, 1, 0, 1])),
        r"must be divided by balanced-60-20-20 or random-60-20-20, got .* 2 nodes .* 0 validate",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_caught(fault):
    make, sentence = FAULTS[fault]
    with pytest.raises(AssertionError, match=sentence) as failure:
        check_graph(make())
    assert str(failure.value).startswith("mine: ")
    assert "\n" not in str(failure.value)


def test_right_ones_pass():
    check_graph(graph())
    check_graph(graph(edges=np.zeros((2, 0), np.int64)), protocol="random-60-20-20")
    for preprocessing in ("undirected", "released"):
        check_graph(preprocess(graph(), preprocessing))


def test_variants_pass(cache):
    """They have dense features and targets, and are named by what they were made of."""
    raw = load_raw("csbm-homophily")
    for variant in ({"drop_edges": 0.5}, {"band": 3}, {"filter": "low-pass"}):
        check_graph(apply_variants(preprocess(raw, "undirected"), variant, seed=0))


def test_the_protocol_that_is_named_must_fit():
    one_sided = graph(metric="roc_auc", labels=np.arange(NODES) // (NODES - 1))
    check_graph(graph(), protocol="balanced-60-20-20")
    for wrong, sentence in (
        ("planetoid", "divided by planetoid, got protocol planetoid is not defined for mine"),
        ("balanced", "divided by balanced, got unknown protocol 'balanced'"),
        ("random-60-20-20", "all validation nodes of mine are of one class"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            check_graph(one_sided, protocol=wrong)


def test_a_graph_is_loaded_twice():
    def load() -> Graph:
        return graph()

    def shuffled() -> Graph:
        return graph(labels=np.roll(np.arange(NODES) % 2, next(NeverTheSame.numbers)))

    def nothing() -> None:
        return None

    check_graph(load)
    with pytest.raises(
        AssertionError, match=r"shuffled: .* twice must have one hash, got \w+ and"
    ):
        check_graph(shuffled)
    with pytest.raises(AssertionError, match=r"nothing: a Graph is needed, got NoneType\."):
        check_graph(nothing)
