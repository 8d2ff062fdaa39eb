"""Gradients of the first step, on graphs of every shape, equal those of the torch path."""

from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
import torch
from hypothesis import HealthCheck, given, settings, strategies as st
from support.engines import SameSamples, halves, initial_weights, spec_of
from torch import Tensor

from clar_tune.engine import ArrayGraph, program_of, task_of
from clar_tune.graphs import Graph
from clar_tune.models import Method, TensorGraph
from clar_tune.models.regularizers.clar import CLAR
from clar_tune.records import TrainSpec
from clar_tune.training.objectives import objective_of

BACKBONES = ["mlp", "gcn", "sage", "cheby", "gpr", "gat"]
REDUCTIONS = ["node-mean", "trace", "released"]


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


REGULARIZERS = {
    "none": {},
    "nl": {"alpha": 0.3, "clamp": None},
    "clar": {"alpha": 0.3, "beta": -0.2, "samples": 2, "clamp": None},
    "preg": {"weight": 0.5},
    "madreg": {"weight": 0.3, "clamp": None, "near": 1, "remote": 3},
}

penalties = st.one_of(
    st.sampled_from([("none", {}), ("preg", {"form": "ce"}), ("preg", {}), ("madreg", {})]),
    st.tuples(st.just("nl"), st.fixed_dictionaries({"reduction": st.sampled_from(REDUCTIONS)})),
    st.tuples(
        st.just("clar"),
        st.fixed_dictionaries(
            {
                "reduction": st.sampled_from(REDUCTIONS),
                "sampling": st.sampled_from(["node", "edge", "any"]),
            }
        ),
    ),
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.differing_executors])
@given(
    graph=graphs(),
    backbone=st.sampled_from(BACKBONES),
    penalty=penalties,
    layers=st.integers(1, 3),
    hidden=st.sampled_from([1, 8, 19]),
)
def test_gradients_are_those_of_the_torch_path(graph, backbone, penalty, layers, hidden):
    regularizer, params = penalty
    method = backbone if regularizer == "none" else f"{backbone}+{regularizer}"
    params = {**REGULARIZERS[regularizer], **params, "weight_decay": 0.0}
    spec = spec_of(graph, method, {"max_epochs": 1}, layers=layers, hidden=hidden, **params)
    tensors, nodes = TensorGraph.of(graph), halves(graph)
    prepared = task_of(spec, ArrayGraph.of(graph), nodes, initial_weights(spec, tensors))
    program_of(backbone)(*prepared.task)
    ours = prepared.layout.unpacked(10 * prepared.task.work.mean)  # Adam's mean is a tenth of it
    for name, gradient in torch_gradients(spec, graph, tensors).items():
        np.testing.assert_allclose(ours[name], gradient, atol=1e-5, rtol=1e-4, err_msg=name)


def torch_gradients(spec: TrainSpec, graph: Graph, tensors: TensorGraph) -> dict[str, Tensor]:
    """Those of the first epoch, with the complements that the native engine draws."""
    torch.manual_seed(spec.init_seed)
    method = Method(spec.backbone, spec.regularizer)
    model, regularizer = (
        method.build_model(tensors, spec.params),
        method.build_regularizer(spec.params),
    )
    objective = objective_of(tensors, halves(graph))
    logits = model(tensors, tensors.adjacency)
    loss = objective.train_loss(objective.read(logits))
    samples = SameSamples(spec, graph)
    with patch.object(CLAR, "_fresh_complement", lambda clar, *given: samples(clar, *given)):
        penalty = regularizer.penalty(logits, tensors.adjacency.symmetrised, torch.Generator())
    if penalty is not None:
        loss = loss + penalty.loss
    loss.backward()
    return {
        name: torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for name, parameter in model.network.named_parameters()
    }
