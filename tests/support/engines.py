"""The native engine beside the torch path: the same graph, weights and samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from clar_tune.engine import ArrayGraph, program_of, task_of
from clar_tune.engine.compiling import called
from clar_tune.engine.complement import draw_complement
from clar_tune.engine.randomness import COMPLEMENT, key_of
from clar_tune.graphs import Graph, SearchNodes
from clar_tune.models import Method, TensorGraph
from clar_tune.models.regularizers.clar import CLAR
from clar_tune.models.regularizers.energy import Laplacian
from clar_tune.models.sparse import Pattern
from clar_tune.records import TrainSpec
from clar_tune.training import train


def generated(
    nodes: int = 60, seed: int = 0, *, directed: bool = False, classes: int = 3
) -> Graph:
    """A random graph with sparse features, isolated nodes included."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, nodes - 2, (2, 3 * nodes))
    edges = edges[:, edges[0] != edges[1]]
    if not directed:
        edges = np.concatenate([edges, edges[::-1]], axis=1)
    words = sp.random_array((nodes, 30), density=0.2, rng=rng, dtype=np.float32)
    return Graph(
        name="generated",
        features=sp.csr_array(words),
        edges=np.unique(edges, axis=1),
        labels=rng.integers(0, classes, nodes),
    )


def halves(graph: Graph) -> SearchNodes:
    """Even nodes to train, odd ones to validate."""
    numbers = np.arange(graph.num_nodes)
    return SearchNodes(train=numbers[::2], val=numbers[1::2])


def spec_of(
    graph: Graph, method: str, rules: dict[str, Any] | None = None, **params: Any
) -> TrainSpec:
    """One training."""
    settings = {"max_epochs": 20, "patience": 1000, **(rules or {})}
    return Method.parse(method).spec(graph, params, "whole-graph", (0, 7), **settings)


def initial_weights(spec: TrainSpec, tensors: TensorGraph) -> dict[str, np.ndarray]:
    """What the torch path starts from."""
    with torch.random.fork_rng([]):
        torch.manual_seed(spec.init_seed)
        model = Method(spec.backbone).build_model(tensors, spec.params)
    state = model.state_dict()
    return {name.removeprefix("network."): value.numpy().copy() for name, value in state.items()}


@dataclass(frozen=True)
class Both:
    """Validation losses of both engines, and what else they came to."""

    native: np.ndarray
    torch: np.ndarray
    outcome: Any
    fit: Any
    prepared: Any


def run_both(spec: TrainSpec, graph: Graph, nodes: SearchNodes | None = None) -> Both:
    """Train with both engines from the same weights."""
    nodes = nodes or halves(graph)
    tensors = TensorGraph.of(graph)
    weights = initial_weights(spec, tensors)
    prepared = task_of(spec, ArrayGraph.of(graph), nodes, weights, history=True)
    outcome = program_of(spec.backbone)(*prepared.task)
    losses: list[float] = []
    fit = train(spec, tensors, nodes, lambda epoch, loss, best: losses.append(loss))
    native = prepared.task.history[: outcome.epochs]
    return Both(native, np.array(losses), outcome, fit, prepared)


class SameSamples:
    """Gives the torch path the complements that the native engine draws, epoch by epoch."""

    def __init__(self, spec: TrainSpec, graph: Graph) -> None:
        task = task_of(spec, ArrayGraph.of(graph), halves(graph)).task
        self.penalty, self.rules, self.epoch = task.penalty, task.rules, 0
        self.draw, self.key = called(draw_complement), called(key_of)

    def __call__(self, clar: CLAR, graph: Any, dtype: torch.dtype, draw: Any) -> Laplacian:
        self.epoch += 1
        key = np.uint64(self.key(self.rules.seed, COMPLEMENT, self.epoch))
        penalty = self.penalty
        self.draw(penalty.graph, penalty.sampling, penalty.samples, key, penalty.draws)
        starts, columns, _ = penalty.draws.pattern
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts.astype(np.int64)))
        ends = (torch.tensor(rows), torch.tensor(columns[: starts[-1]].astype(np.int64)))
        return Laplacian.of(Pattern.of(*ends, len(starts) - 1, len(starts) - 1), dtype)
