"""From a regularizer's parameters to the penalty that a program takes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clar_tune.engine.arrays import ArrayGraph, Csr, no_matrix
from clar_tune.engine.complement import ANY, EDGE, NODE, draws_of
from clar_tune.engine.penalties import CLAR, NODE_MEAN, NONE, RELEASED, TRACE, Penalty

SAMPLINGS = {"node": NODE, "edge": EDGE, "any": ANY}
REDUCTIONS = {"trace": TRACE, "node-mean": NODE_MEAN, "released": RELEASED}
WITH_PENALTY = frozenset({"clar", "nl", "preg", "madreg"})


@dataclass(frozen=True, eq=False)
class Terms:
    """The penalty of a training, and the names of its terms."""

    penalty: Penalty
    names: tuple[str, ...]


def terms_of(regularizer: str, graph: ArrayGraph, width: int, params: Mapping[str, Any]) -> Terms:
    """Terms with a weight of zero are left out, as they are in torch's path."""
    weights: dict[str, float] = {}
    if regularizer in ("clar", "nl"):
        scale = float(params.get("scale", 1.0))
        weights = {"com": scale * params.get("beta", 0.0), "ori": scale * params["alpha"]}
    weights = {name: float(weight) for name, weight in weights.items() if weight}
    kind = CLAR if weights else NONE
    clamp = params.get("clamp") if weights else None
    sampling = str(params.get("sampling", "node"))
    samples = int(params.get("samples", 1)) if "com" in weights else 0
    matrix, roots = _lists(graph) if weights else (no_matrix(), np.zeros(0, np.float32))
    draws = len(matrix.columns) if sampling == "edge" else graph.num_nodes
    nodes = graph.num_nodes if samples else 0
    penalty = Penalty(
        kind=kind,
        values=np.zeros(len(weights)),
        best=np.zeros(len(weights)),
        active=np.zeros(len(weights), np.int64),
        weights=np.array(list(weights.values()), np.float64),
        complement="com" in weights,
        clamp=math.inf if clamp is None else float(clamp),
        reduction=REDUCTIONS[str(params.get("reduction", "node-mean"))],
        sampling=SAMPLINGS[sampling],
        samples=samples,
        graph=matrix,
        roots=roots,
        draws=draws_of(nodes, samples * draws),
        y=np.zeros(graph.num_nodes * width if weights else 0, np.float32),
    )
    return Terms(penalty, tuple(weights))


def _lists(graph: ArrayGraph) -> tuple[Csr, np.ndarray[Any, np.dtype[np.float32]]]:
    """The undirected graph's lists of neighbours, and the roots of its inverse degrees."""
    return graph.neighbours, graph.neighbour_roots
