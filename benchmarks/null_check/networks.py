"""Networks on one generated graph: two arms that differ by their seeds alone.

A pool of splits of one block model, and two trainings of the same gcn on each. As nothing but
chance tells the arms apart, a draw takes splits of the pool and swaps the arms of each with
chance one half: the truth is 0 in both scopes.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.null_check.learners import Sizes
from benchmarks.null_check.scopes import COUNTS, PRINTED, effects_of
from benchmarks.null_check.tables import Measured, Row
from clar_tune.analysis.statistics import LEVEL
from clar_tune.graphs import load, search_nodes, seed_pair, test_nodes
from clar_tune.models import Method, TensorGraph
from clar_tune.training import train

GRAPH, PROTOCOL = "csbm-heterophily", "random-60-20-20"
POOL = 300
"""Splits, unless fewer draws are asked for."""
PARAMS = {"lr": 0.05, "dropout": 0.5, "hidden": 16}
LIMITS = {"max_epochs": 50, "patience": 20}


def rows(draws: int, seed: int) -> Iterator[Row]:
    """False claims at 5 % between two trainings of one gcn, by draws of splits from a pool."""
    sizes, tested, differences = pool(max(*COUNTS, min(POOL, draws)), seed)
    draw = np.random.default_rng(seed)
    for count in COUNTS:
        claims = []
        for _ in range(draws):
            chosen = draw.choice(len(tested), size=count, replace=False)
            swapped = differences[chosen] * draw.choice([-1.0, 1.0], size=(count, 1))
            effects = effects_of(tested[chosen], swapped, sizes)
            claims.append([getattr(effects, s).p_difference < LEVEL for s in PRINTED.values()])
        found = np.array(claims)
        yield {
            "graph": GRAPH,
            "pool": len(tested),
            "splits": count,
            **{f"claims, {name}": Measured.over(found[:, i]) for i, name in enumerate(PRINTED)},
        }


def pool(count: int, seed: int) -> tuple[Sizes, NDArray[np.int64], NDArray[np.float64]]:
    """Test nodes [P, n] of so many splits, and the second training minus the first at each."""
    graph = load(GRAPH)
    tensors, method = TensorGraph.of(graph), Method("gcn", "none")
    tested, differences = [], []
    for index in range(count):
        split_seed, init_seed = seed_pair(GRAPH, PROTOCOL, seed, index, "final")
        nodes, own = (
            search_nodes(graph, PROTOCOL, split_seed),
            test_nodes(graph, PROTOCOL, split_seed),
        )
        right = []
        for arm in range(2):
            spec = method.spec(graph, PARAMS, PROTOCOL, (split_seed, init_seed + arm), **LIMITS)
            answers = train(spec, tensors, nodes).logits.argmax(dim=1).numpy()
            right.append(answers[own] == graph.labels[own])
        tested.append(own)
        differences.append(right[1].astype(float) - right[0])
    sizes = Sizes(GRAPH, len(nodes.train), len(nodes.val), len(own))
    return sizes, np.array(tested), np.array(differences)
