"""The torch path with the samples that the native engine draws, and in 64 bit."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.equivalence.cases import Pair
from clar_tune.engine import task_of
from clar_tune.engine.compiling import called
from clar_tune.engine.complement import draw_complement
from clar_tune.engine.operator import thin
from clar_tune.engine.randomness import COMPLEMENT, EDGES, key_of
from clar_tune.engine.task import Task
from clar_tune.models import Adjacency, Method, TensorGraph
from clar_tune.models.regularizers import CLAR, DropEdge
from clar_tune.models.regularizers.energy import Laplacian
from clar_tune.models.sparse import Csr, Pattern


@contextmanager
def same_samples(pair: Pair) -> Iterator[None]:
    """Complements and thinned graphs are those of the native engine, epoch by epoch."""
    task = task_of(pair.spec, pair.graph.arrays, pair.nodes).task
    with (
        patch.object(CLAR, "_fresh_complement", _complements(task)),
        patch.object(DropEdge, "epoch_graph", _thinned(task)),
    ):
        yield


@contextmanager
def wide(pair: Pair) -> Iterator[TensorGraph]:
    """The graph in 64 bit; models start from the 32-bit weights, as the others do."""
    narrow = pair.graph.tensors
    build = Method.build_model

    def wider(self: Method, _: TensorGraph, params: Any) -> Any:
        return build(self, narrow, params).double()

    x = narrow.x
    x = x.double() if isinstance(x, torch.Tensor) else Csr(x.pattern, x.values.double())
    with ExitStack() as stack:
        stack.enter_context(patch.object(Method, "build_model", wider))
        yield replace(narrow, x=x)


def _complements(task: Task) -> Callable[..., Laplacian]:
    penalty, epochs = task.penalty, iter(range(1, 10**9))

    def given(_: CLAR, graph: Adjacency, dtype: torch.dtype, draw: Any) -> Laplacian:
        key = np.uint64(called(key_of)(task.rules.seed, COMPLEMENT, next(epochs)))
        called(draw_complement)(
            penalty.graph, penalty.sampling, penalty.samples, key, penalty.draws
        )
        starts, columns, _values = penalty.draws.pattern
        rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts.astype(np.int64)))
        ends = (torch.tensor(rows), torch.tensor(columns[: starts[-1]].astype(np.int64)))
        return Laplacian.of(Pattern.of(*ends, graph.num_nodes, graph.num_nodes), dtype)

    return given


def _thinned(task: Task) -> Callable[..., Adjacency]:
    epochs = iter(range(1, 10**9))

    def given(_: DropEdge, graph: Adjacency, draw: Any) -> Adjacency:
        key = np.uint64(called(key_of)(task.rules.seed, EDGES, next(epochs)))
        called(thin)(task.network.operator, task.rules.thinned, key, task.thinner.operator)
        starts, columns, _values = task.thinner.operator.matrix
        nodes = graph.num_nodes
        rows = np.repeat(np.arange(nodes), np.diff(starts.astype(np.int64)))
        left = rows * nodes + columns[: starts[-1]]
        pattern = graph.pattern
        ends = pattern.rows.long() * nodes + pattern.indices
        pairs, count = graph.pairs
        keep = torch.zeros(count, dtype=torch.bool)
        keep[pairs] = torch.isin(ends, torch.tensor(left.astype(np.int64)))
        return graph.thinned(keep)

    return given
