"""Small graphs by hand, each with something that a class may stumble over."""

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from clar_tune.graphs import Graph

FEATURES = 5

Pairs = Iterable[tuple[int, int]]


def _path(first: int, last: int) -> list[tuple[int, int]]:
    return [(node, node + 1) for node in range(first, last)]


def _ring(first: int, last: int) -> list[tuple[int, int]]:
    return [*_path(first, last), (last, first)]


def _graph(
    name: str, nodes: int, pairs: Pairs, classes: int = 3, *, directed: bool = False
) -> Graph:
    """Some nodes in some classes in turn; features of both signs, a third of them zero."""
    draw = np.random.Generator(np.random.PCG64(nodes))
    features = 2 * draw.random((nodes, FEATURES)) - 1
    features[draw.random(features.shape) < 1 / 3] = 0
    edges = np.array(list(pairs), dtype=np.int64).reshape(-1, 2).T
    return Graph(
        name=name,
        features=sp.csr_array(features.astype(np.float32)),
        edges=edges if directed else np.concatenate([edges, edges[::-1]], axis=1),
        labels=np.arange(nodes) % min(classes, nodes),
    )


TWO_RINGS = _graph(
    "two joined rings and an isolated node", 13, [*_ring(0, 5), *_ring(6, 11), (0, 6)]
)
"""What is trained on: large enough for every split."""

NO_EDGES = _graph("5 nodes without edges", 5, [])

EXAMPLES = (
    TWO_RINGS,
    NO_EDGES,
    _graph("a path of 2 nodes", 2, _path(0, 1)),
    _graph("a path of 6 nodes with one output", 6, _path(0, 5), classes=1),
    _graph("a directed path of 5 nodes", 5, _path(0, 4), directed=True),
    _graph("a star of 6 nodes", 6, [(0, leaf) for leaf in range(1, 6)]),
    _graph("a complete graph of 5 nodes", 5, zip(*np.triu_indices(5, k=1), strict=True)),
    _graph("a triangle and an isolated node", 4, _ring(0, 2)),
    _graph("a path and a triangle, not joined", 6, [*_path(0, 2), *_ring(3, 5)]),
)
