"""From a backbone's name and parameters to the network that a program takes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clar_tune.engine.arrays import ArrayGraph, Csr, Numbers, no_matrix, room
from clar_tune.engine.dense import BLOCK
from clar_tune.engine.layout import Layout, padded
from clar_tune.engine.networks.cheby import Cheby
from clar_tune.engine.networks.gat import Gat
from clar_tune.engine.networks.gcn import Gcn
from clar_tune.engine.networks.gpr import Gpr
from clar_tune.engine.networks.mlp import Mlp
from clar_tune.engine.networks.sage import Sage
from clar_tune.engine.operator import ALWAYS, COLUMNS, MEAN, ROWS, Operator
from clar_tune.engine.problem import Network, Work
from clar_tune.engine.teams import AnyTeam

RULES = {"smoothing": ROWS, "normalised": COLUMNS, "averaging": MEAN, "looped": ROWS}


def network_of(
    backbone: str,
    graph: ArrayGraph,
    layout: Layout,
    work: Work,
    params: Mapping[str, Any],
    seed: np.uint64,
    team: AnyTeam,
) -> Network:
    """The network of a built-in backbone, with arrays of its own to write to."""
    every = np.arange(graph.num_nodes, dtype=np.uint32)
    nodes, widest = graph.num_nodes, int(layout.layers.outputs.max())

    if backbone == "gcn":
        return Gcn(_operator(graph, "smoothing", team), every, work.nothing)
    if backbone == "sage":
        return Sage(_operator(graph, "averaging", team), every, work.nothing)
    if backbone == "cheby":
        buffers = (room(nodes * widest) for _ in range(3))
        operator = _operator(graph, "normalised", team)
        return Cheby(operator, every, work.nothing, int(params["K"]), *buffers)
    if backbone == "gpr":
        order, size = int(params["K"]), nodes * int(layout.layers.outputs[-1])
        powers, summed = room((order + 1) * size), room(size)
        operator = _operator(graph, "smoothing", team)
        return Gpr(operator, every, work.nothing, order, layout.decayed, powers, summed)
    if backbone == "gat":
        return _attention(graph, layout, params, seed, every, team)
    nobody = np.zeros(0, np.uint32)
    return Mlp(Operator(no_matrix(), no_matrix(), nobody, nobody, room(0), ROWS, team))


def attention_dropout(params: Mapping[str, Any]) -> float:
    """The rate at which attention is dropped: that of everything unless it has its own."""
    own = params["attention_dropout"]
    return float(params["dropout"] if own is None else own)


def _attention(
    graph: ArrayGraph,
    layout: Layout,
    params: Mapping[str, Any],
    seed: np.uint64,
    every: Numbers,
    team: AnyTeam,
) -> Gat:
    depth, nodes = layout.layers.depth, graph.num_nodes
    heads = np.ones(depth, np.int64)
    heads[:-1] = int(params["heads"])
    operator, lanes = _operator(graph, "looped", team), padded(int(heads.max()))
    longest = max(
        int(np.diff(part.starts).max()) for part in (operator.matrix, operator.transposed)
    )
    dropout, outputs = attention_dropout(params), nodes * int(layout.layers.outputs.sum())
    kept = depth * len(operator.matrix.columns) * lanes // 8 if dropout else 0

    names = "source", "target", "tops", "shares"
    return Gat(
        operator=operator,
        heads=heads,
        lanes=lanes,
        dropout=dropout,
        seed=seed,
        words=np.zeros(max(BLOCK, lanes) // 2, np.uint32),
        **{name: room(depth * nodes * lanes) for name in names},
        sums=room(outputs),
        kept=np.zeros(kept, np.uint8),
        kept_back=np.zeros(kept, np.uint8),
        cursors=np.zeros(nodes, np.uint32),
        every=every,
        **{
            name: room(max(longest, BLOCK // lanes) * lanes)
            for name in ("alpha", "dropped", "products")
        },
        **{name: room(nodes * lanes) for name in ("d_source", "d_target", "means")},
    )


def thinner(network: Network) -> Network:
    """The same network with matrices of its own, which each epoch writes anew."""
    full = network.operator
    operator = full._replace(
        matrix=Csr(*(part.copy() for part in full.matrix)),
        transposed=Csr(*(part.copy() for part in full.transposed)),
        pairs=_pairs(full.matrix),
        transposed_pairs=_pairs(full.transposed),
        counts=np.zeros(len(full.matrix.starts) - 1, np.float32),
    )
    return network._replace(operator=operator)


def _operator(graph: ArrayGraph, name: str, team: AnyTeam) -> Operator:
    matrix, transposed = graph.scaled(name)
    return Operator(
        matrix=matrix,
        transposed=transposed,
        pairs=np.zeros(0, np.uint32),
        transposed_pairs=np.zeros(0, np.uint32),
        counts=np.zeros(0, np.float32),
        rule=RULES[name],
        team=team,
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
