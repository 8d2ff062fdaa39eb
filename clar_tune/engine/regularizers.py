"""From a regularizer's parameters to the penalty that a program takes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clar_tune.engine.arrays import ArrayGraph, Csr, no_matrix, room
from clar_tune.engine.complement import ANY, EDGE, NODE, draws_of
from clar_tune.engine.madreg import Contrast
from clar_tune.engine.penalties import (
    CLAR,
    MADREG,
    NODE_MEAN,
    NONE,
    PREG,
    RELEASED,
    TRACE,
    Penalty,
)

SAMPLINGS = {"node": NODE, "edge": EDGE, "any": ANY}
REDUCTIONS = {"trace": TRACE, "node-mean": NODE_MEAN, "released": RELEASED}
ROUNDING = 1e-12
"""Of an energy per node."""

KINDS = {"clar": CLAR, "nl": CLAR, "preg": PREG, "madreg": MADREG}
WITH_PENALTY = frozenset({"clar", "nl", "preg", "madreg"})


@dataclass(frozen=True, eq=False)
class Terms:
    """The penalty of a training, the names of its terms, and what is told of the graph."""

    penalty: Penalty
    names: tuple[str, ...]
    facts: Mapping[str, float]


def terms_of(regularizer: str, graph: ArrayGraph, width: int, params: Mapping[str, Any]) -> Terms:
    """Terms with a weight of zero are left out, as they are in torch's path."""
    weights = {name: value for name, value in _weights(regularizer, params).items() if value}
    kind = KINDS[regularizer] if weights else NONE
    sampling = str(params.get("sampling", "node"))
    samples = int(params.get("samples", 1)) if "com" in weights else 0
    contrast = _contrast(graph, params) if regularizer == "madreg" else None
    matrix = contrast.matrix if kind == MADREG and contrast else _matrix(kind, graph)
    draws = len(matrix.columns) if sampling == "edge" else graph.num_nodes
    size = graph.num_nodes * width if weights else 0
    other = size if kind in (PREG, MADREG) else 0
    clamp = params.get("clamp") if weights else None
    penalty = Penalty(
        kind=kind,
        values=np.zeros(len(weights)),
        best=np.zeros(len(weights)),
        active=np.zeros(len(weights), np.int64),
        above=np.zeros(len(weights), np.int64),
        zero=np.zeros(len(weights), np.int64),
        weights=np.array(list(weights.values()), np.float64),
        complement="com" in weights,
        clamp=math.inf if clamp is None else float(clamp),
        rounding=_rounding(kind, graph, params),
        reduction=REDUCTIONS[str(params.get("reduction", "node-mean"))],
        sampling=SAMPLINGS[sampling],
        samples=samples,
        graph=matrix,
        roots=graph.neighbour_roots if kind == CLAR else np.zeros(0, np.float32),
        draws=draws_of(graph.num_nodes if samples else 0, samples * draws),
        y=room(size),
        smoothed=room(other),
        spread=room(other),
        every=np.arange(graph.num_nodes, dtype=np.uint32),
        nothing=np.zeros(width, np.float32),
        crossed=params.get("form") == "ce",
        floor=-math.inf if kind == MADREG and clamp is None else 0.0,
        offset=contrast.offset if contrast else 0.0,
    )
    return Terms(penalty, tuple(weights), _facts(contrast))


def _contrast(graph: ArrayGraph, params: Mapping[str, Any]) -> Contrast:
    """That of madreg's partners, made once for a graph."""
    near, remote = int(params["near"]), int(params["remote"])
    return graph.once((near, remote), lambda: Contrast.of(graph.undirected, near, remote))


def _facts(contrast: Contrast | None) -> dict[str, float]:
    if contrast is None:
        return {}
    return {"near_share": contrast.near_share, "remote_share": contrast.remote_share}


def _weights(regularizer: str, params: Mapping[str, Any]) -> dict[str, float]:
    """The terms of a regularizer and their weights."""
    if regularizer in ("clar", "nl"):
        scale = float(params.get("scale", 1.0))
        return {"com": scale * params.get("beta", 0.0), "ori": scale * params["alpha"]}
    if regularizer == "madreg":
        return {"madgap": -float(params["weight"])}
    return {"preg": float(params["weight"])} if regularizer == "preg" else {}


def _rounding(kind: int, graph: ArrayGraph, params: Mapping[str, Any]) -> float:
    """An energy below which outputs are equal but for the last digits of float32."""
    if kind != CLAR:
        return 0.0
    return ROUNDING if params["reduction"] == "node-mean" else ROUNDING * graph.num_nodes


def _matrix(kind: int, graph: ArrayGraph) -> Csr:
    """What the terms are taken of: lists of neighbours, or smoothing."""
    if kind == CLAR:
        return graph.neighbours
    return graph.undirected_smoothing if kind == PREG else no_matrix()
