"""Gradients of the first step, on graphs of every shape, equal those of the torch path."""

import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import HealthCheck, given, settings, strategies as st
from support.engines import halves, initial_weights, spec_of

from clar_tune.engine import ArrayGraph, program_of, task_of
from clar_tune.graphs import Graph
from clar_tune.models import Method, TensorGraph
from clar_tune.training.objectives import objective_of

BACKBONES = ["mlp", "gcn", "sage", "cheby", "gpr", "gat"]


@st.composite
def graphs(draw) -> Graph:
    """Stars, complete graphs, isolated nodes, self-loops, no edges, one class."""
    nodes = draw(st.integers(2, 12))
    number = st.integers(0, nodes - 1)
    kind = draw(st.sampled_from(["any", "star", "complete", "none", "loops"]))
    pairs = {
        "any": draw(st.lists(st.tuples(number, number), max_size=40)),
        "star": [(0, other) for other in range(1, nodes)],
        "complete": [(a, b) for a in range(nodes) for b in range(nodes)],
        "none": [],
        "loops": [(node, node) for node in range(nodes)],
    }[kind]
    if draw(st.booleans()):
        pairs = pairs + [(b, a) for a, b in pairs]
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    classes = draw(st.integers(1, 9))
    return Graph(
        name="drawn",
        features=sp.csr_array(sp.random_array((nodes, 6), density=0.5, rng=rng, dtype=np.float32)),
        edges=np.array(pairs, np.int64).reshape(-1, 2).T.copy(),
        labels=rng.integers(0, classes, nodes),
    )


@settings(max_examples=150, suppress_health_check=[HealthCheck.differing_executors])
@given(
    graph=graphs(),
    backbone=st.sampled_from(BACKBONES),
    layers=st.integers(1, 3),
    hidden=st.sampled_from([1, 8, 19]),
)
def test_gradients_are_those_of_the_torch_path(graph, backbone, layers, hidden):
    spec = spec_of(
        graph, backbone, {"max_epochs": 1}, layers=layers, hidden=hidden, weight_decay=0.0
    )
    tensors, nodes = TensorGraph.of(graph), halves(graph)
    prepared = task_of(spec, ArrayGraph.of(graph), nodes, initial_weights(spec, tensors))
    program_of(backbone)(*prepared.task)
    ours = prepared.layout.unpacked(10 * prepared.task.work.mean)  # Adam's mean is a tenth of it
    torch.manual_seed(spec.init_seed)
    model = Method(backbone).build_model(tensors, spec.params)
    objective = objective_of(tensors, nodes)
    objective.train_loss(objective.read(model(tensors, tensors.adjacency))).backward()
    for name, parameter in model.network.named_parameters():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        np.testing.assert_allclose(ours[name], gradient, atol=1e-5, rtol=1e-4, err_msg=name)
