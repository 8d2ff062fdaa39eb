"""From a backbone's name and parameters to the network that a program takes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clar_tune.engine.arrays import ArrayGraph, Csr, Numbers, no_matrix
from clar_tune.engine.layout import Layout, padded
from clar_tune.engine.networks.cheby import Cheby
from clar_tune.engine.networks.gat import Gat
from clar_tune.engine.networks.gcn import Gcn
from clar_tune.engine.networks.gpr import Gpr
from clar_tune.engine.networks.mlp import Mlp
from clar_tune.engine.networks.sage import Sage
from clar_tune.engine.operator import ALWAYS, COLUMNS, MEAN, ROWS, Operator
from clar_tune.engine.problem import Network, Work

RULES = {"smoothing": ROWS, "normalised": COLUMNS, "averaging": MEAN, "looped": ROWS}


def network_of(
    backbone: str,
    graph: ArrayGraph,
    layout: Layout,
    work: Work,
    params: Mapping[str, Any],
    seed: np.uint64,
) -> Network:
    """The network of a built-in backbone, with arrays of its own to write to."""
    every = np.arange(graph.num_nodes, dtype=np.uint32)
    nodes, widest = graph.num_nodes, int(layout.layers.outputs.max())

    def buffer(size: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.zeros(size, np.float32)

    if backbone == "gcn":
        return Gcn(_operator(graph, "smoothing"), every, work.nothing)
    if backbone == "sage":
        return Sage(_operator(graph, "averaging"), every, work.nothing)
    if backbone == "cheby":
        buffers = (buffer(nodes * widest) for _ in range(3))
        operator = _operator(graph, "normalised")
        return Cheby(operator, every, work.nothing, int(params["K"]), *buffers)
    if backbone == "gpr":
        order, size = int(params["K"]), nodes * int(layout.layers.outputs[-1])
        powers, summed = buffer((order + 1) * size), buffer(size)
        operator = _operator(graph, "smoothing")
        return Gpr(operator, every, work.nothing, order, layout.decayed, powers, summed)
    if backbone == "gat":
        return _attention(graph, layout, params, seed)
    nobody = np.zeros(0, np.uint32)
    return Mlp(Operator(no_matrix(), no_matrix(), nobody, nobody, buffer(0), ROWS))


def attention_dropout(params: Mapping[str, Any]) -> float:
    """The rate at which attention is dropped: that of everything unless it has its own."""
    own = params["attention_dropout"]
    return float(params["dropout"] if own is None else own)


def _attention(
    graph: ArrayGraph, layout: Layout, params: Mapping[str, Any], seed: np.uint64
) -> Gat:
    depth, nodes = layout.layers.depth, graph.num_nodes
    heads = np.ones(depth, np.int64)
    heads[:-1] = int(params["heads"])
    operator, lanes = _operator(graph, "looped"), padded(int(heads.max()))
    entries = len(operator.matrix.columns)
    longest = int(np.diff(operator.matrix.starts).max())
    dropout = attention_dropout(params)
    sizes = {
        **{"source": depth * nodes, "target": depth * nodes, "weights": depth * entries},
        **{"kept": depth * entries if dropout else 0},
        **{"d_source": nodes, "d_target": nodes, "d_weights": entries},
    }
    arrays = {name: np.zeros(size * lanes, np.float32) for name, size in sizes.items()}
    words = np.zeros(longest * lanes // 2, np.uint32)
    return Gat(operator, heads, lanes, dropout, seed, words, **arrays)


def thinner(network: Network) -> Network:
    """The same network with matrices of its own, which each epoch writes anew."""
    full = network.operator
    operator = full._replace(
        matrix=Csr(*(part.copy() for part in full.matrix)),
        transposed=Csr(*(part.copy() for part in full.transposed)),
        counts=np.zeros(len(full.matrix.starts) - 1, np.float32),
    )
    return network._replace(operator=operator)


def _operator(graph: ArrayGraph, name: str) -> Operator:
    matrix, transposed = graph.scaled(name)
    return Operator(
        matrix=matrix,
        transposed=transposed,
        pairs=_pairs(matrix),
        transposed_pairs=_pairs(transposed),
        counts=np.zeros(0, np.float32),
        rule=RULES[name],
    )


def _pairs(matrix: Csr) -> Numbers:
    """For each entry the number of its undirected pair; self-loops have none."""
    counts = np.diff(matrix.starts).astype(np.int64)
    rows = np.repeat(np.arange(len(counts)), counts)
    columns = matrix.columns.astype(np.int64)
    ends = np.minimum(rows, columns) * len(matrix.starts) + np.maximum(rows, columns)
    off = rows != columns
    numbers = np.full(len(rows), ALWAYS, np.uint32)
    numbers[off] = np.unique(ends[off], return_inverse=True)[1]
    return numbers
