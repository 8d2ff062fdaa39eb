"""What is compared: programs and regularizers with parameters, on graphs and their splits."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from clar_tune.engine import ArrayGraph
from clar_tune.graphs import Graph, SearchNodes, load, search_nodes, seed_pair
from clar_tune.models import Method, TensorGraph
from clar_tune.records import TrainSpec

PROTOCOL = "balanced-60-20-20"
CLAR = {"alpha": 0.1, "beta": 0.1, "samples": 1, "clamp": None, "reduction": "node-mean"}
WEAK = {"alpha": 1e-4, "beta": 1e-4}
"""Of sums over all nodes: with 0.1 every training of both engines collapses."""

CASES: dict[str, dict[str, Any]] = {
    "mlp": {},
    "gcn": {},
    "sage": {},
    "gpr": {},
    "cheby": {},
    "gat": {},
    "gcn+nl": {"alpha": 0.1, "clamp": None},
    "gcn+clar": {**CLAR, "sampling": "node"},
    "gcn+clar strong": {**CLAR, "sampling": "node", "alpha": 1.0, "beta": 1.0},
    "gcn+clar edge": {**CLAR, "sampling": "edge"},
    "gcn+clar any": {**CLAR, "sampling": "any"},
    "gcn+clar trace": {**CLAR, **WEAK, "reduction": "trace"},
    "gcn+clar released": {**CLAR, **WEAK, "reduction": "released"},
    "gcn+preg": {"weight": 0.1},
    "gcn+dropedge": {"rate": 0.3},
    "gcn+madreg": {"weight": 0.1},
    "gcn+madreg weak": {"weight": 0.01},
}
"""Parameters by the name of the case: a method, and what sets it apart."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A graph in the forms of both engines."""

    graph: Graph
    tensors: TensorGraph
    arrays: ArrayGraph


@cache
def loaded(name: str) -> Loaded:
    """A graph, loaded once."""
    graph = load(name)
    return Loaded(graph, TensorGraph.of(graph), ArrayGraph.of(graph))


@dataclass(frozen=True, eq=False)
class Pair:
    """A training that both engines do: one split, the same first weights."""

    spec: TrainSpec
    nodes: SearchNodes
    graph: Loaded


def pair_of(graph: str, case: str, index: int, dropout: float, **rules: Any) -> Pair:
    """Pair number ``index`` of a case."""
    made = loaded(graph)
    seeds = seed_pair(graph, PROTOCOL, 0, index, "final")
    params = {**CASES[case], "dropout": dropout}
    method = Method.parse(case.partition(" ")[0])
    spec = method.spec(made.graph, params, PROTOCOL, seeds, **rules)
    return Pair(spec, search_nodes(made.graph, PROTOCOL, spec.split_seed), made)


def initial_weights(spec: TrainSpec, tensors: TensorGraph) -> dict[str, Any]:
    """What the torch path starts from, by torch's names."""
    with torch.random.fork_rng([]):
        torch.manual_seed(spec.init_seed)
        model = Method(spec.backbone).build_model(tensors, spec.params)
    state = model.state_dict()
    return {name.removeprefix("network."): value.numpy().copy() for name, value in state.items()}
