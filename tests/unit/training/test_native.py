"""A training by the native engine is judged, corrected and told of as one by torch is."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from support.engines import generated, halves, spec_of

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.graphs import load, search_nodes, seed_pair
from clar_tune.models import Known, Method
from clar_tune.records import ENGINES
from clar_tune.training import form_of, test_scores as scores_on_test, train
from clar_tune.training.scores import accuracy, roc_auc

BALANCED = "balanced-60-20-20"


@pytest.mark.parametrize(
    ("backbone", "wrong"),
    [
        ("gcn", {"layers": 0}),
        ("gcn", {"layers": 100}),
        ("gcn", {"dropout": 1.0}),
        ("gcn", {"dropout": -0.5}),
        ("gcn", {"lr": -1.0}),
        ("gpr", {"K": -1}),
        ("gat", {"activation": "tanh"}),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_parameters_that_none_can_have_are_refused(engine, backbone, wrong):
    graph = generated()
    spec = spec_of(graph, backbone)
    spec = replace(spec, engine=engine, params={**spec.params, **wrong})
    with pytest.raises((ParameterError, UnknownName)):
        train(spec, form_of(graph, engine), halves(graph))


def test_an_optimizer_that_there_is_not_is_refused():
    graph = generated()
    for engine in ENGINES:
        spec = replace(spec_of(graph, "gcn"), engine=engine, optimizer="sgd")
        with pytest.raises(UnknownName, match="optimizer"):
            train(spec, form_of(graph, engine), halves(graph))


def natively(spec, graph, nodes, report=None):
    return train(replace(spec, engine="native"), form_of(graph, "native"), nodes, report)


def shifted(method: str):
    """A specification, a graph, and validation without class 0: there is something to correct."""
    graph = load("csbm-heterophily")
    seeds = seed_pair(graph.name, BALANCED, 0, 0, "final")
    spec = Method.parse(method).spec(graph, {"dropout": 0.5}, BALANCED, seeds, max_epochs=30)
    nodes = search_nodes(graph, BALANCED, spec.split_seed)
    return spec, graph, replace(nodes, val=nodes.val[graph.labels[nodes.val] != 0])


@pytest.mark.parametrize("name", ["prior", "seen"])
def test_a_control_is_the_plain_training_with_other_answers(name):
    plain = natively(*shifted("gcn"))
    spec, graph, nodes = shifted(f"gcn+{name}")
    found = natively(spec, graph, nodes)
    assert all(np.array_equal(found.weights[key], plain.weights[key]) for key in plain.weights)
    labels, val = torch.tensor(graph.labels), torch.tensor(nodes.val)
    knows = Known(labels[nodes.train], val, labels[val])
    regularizer = Method.parse(f"gcn+{name}").build_regularizer({})
    expected, facts = regularizer.corrected(plain.logits, knows)
    assert torch.equal(found.logits, expected) and found.record.facts == facts
    assert found.record.val_score == accuracy(expected[val], labels[val])
    loss = torch.nn.functional.cross_entropy(expected[val], labels[val])
    assert found.record.val_loss == pytest.approx(loss.item(), rel=1e-5)
    assert found.record.penalty_active is None
    tested = scores_on_test(found, spec, graph)
    assert 0 <= tested.score <= 1 and tested.correct and tested.balanced is not None


def test_a_roc_auc_is_that_of_the_outputs():
    graph = replace(generated(classes=2), metric="roc_auc")
    nodes, heard = halves(graph), []
    spec = spec_of(graph, "gcn", {"max_epochs": 3000, "patience": 3000}, lr=0.001)
    fit = natively(spec, graph, nodes, lambda *told: heard.append(told))
    labels = torch.tensor(graph.labels)
    assert fit.record.metric == "roc_auc"
    assert fit.record.val_score == roc_auc(fit.logits[nodes.val], labels[nodes.val])
    assert all(np.isnan(best) for _, _, best in heard)


@pytest.mark.parametrize(
    ("method", "params"), [("gpr", {"K": 4}), ("cheby", {"K": 2}), ("gcn+madreg", {})]
)
def test_facts_are_those_that_torch_tells(method, params):
    graph = generated()
    spec = spec_of(graph, method, {"max_epochs": 1}, hidden=4, lr=1e-9, **params)
    ours = natively(spec, graph, halves(graph))
    theirs = train(spec, form_of(graph, "torch"), halves(graph))
    assert ours.record.facts.keys() == theirs.record.facts.keys() and ours.record.facts
    if method == "gpr":
        assert ours.record.facts == pytest.approx(
            {f"gamma_{k}": v for k, v in enumerate(ours.weights["gamma"].tolist())}
        )
    if method == "cheby":
        first = ours.weights["layers.0.weights.0"], ours.weights["layers.0.weights.2"]
        expected = float((first[0] * first[1]).sum())
        assert ours.record.facts["gram_layer_0_0_2"] == pytest.approx(expected, rel=1e-5)
    if method == "gcn+madreg":
        assert ours.record.facts == pytest.approx(theirs.record.facts)
