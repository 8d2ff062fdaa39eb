"""Classification and regression in one training loop."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from clar_tune.errors import ParameterError
from clar_tune.graphs import apply_variants, splits
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.loading import load
from clar_tune.graphs.splits import SearchNodes
from clar_tune.models.method import Method
from clar_tune.models.regularizers import REGULARIZERS
from clar_tune.models.tensors import TensorGraph
from clar_tune.records import TrainSpec
from clar_tune.training.held_out import test_count as count_tested, test_score as score_on_test
from clar_tune.training.loop import train
from clar_tune.training.objectives import check_objective, objective_of

ALL = "whole-graph"


@pytest.fixture
def filtered(tiny_graph, cache) -> Graph:
    """A small graph whose signals are to be smoothed."""
    return apply_variants(tiny_graph, {"filter": "low-pass"}, seed=0)


def spec_of(graph: Graph, method: str, params=None, **rules) -> TrainSpec:
    seeds = splits.seed_pair(graph.name, ALL, 0, 0, "repeat")
    rules = {"max_epochs": 60, "patience": 20, "warmup": 1, **rules}
    return Method.parse(method).spec(graph, {"lr": 0.1, **(params or {})}, ALL, seeds, **rules)


def fitted(graph: Graph, method: str, params=None, **rules):
    spec = spec_of(graph, method, params, **rules)
    nodes = splits.search_nodes(graph, ALL, spec.split_seed)
    return spec, train(spec, TensorGraph.of(graph), nodes)


def test_losses_and_scores_are_those_of_the_formulas(tiny_graph, filtered):
    train_nodes, val_nodes = np.array([0, 2, 4, 6]), np.array([1, 5])
    nodes, val = SearchNodes(train_nodes, val_nodes), torch.tensor(val_nodes)
    tensors = TensorGraph.of(tiny_graph)
    logits = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))
    classes = objective_of(tensors, nodes)
    expected = cross_entropy(logits[train_nodes], tensors.labels[train_nodes])
    assert classes.train_loss(classes.read(logits)).item() == pytest.approx(expected.item())
    expected = cross_entropy(logits[val], tensors.labels[val])
    assert classes.val_loss(classes.read(logits)).item() == pytest.approx(expected.item())
    assert classes.val_score(logits) == (logits[val].argmax(1) == tensors.labels[val]).sum() / 2

    outputs = torch.randn(filtered.targets.shape, generator=torch.Generator().manual_seed(1))
    numbers = objective_of(TensorGraph.of(filtered), nodes)
    errors = np.square(outputs.numpy() - filtered.targets)
    read = numbers.read(outputs)
    assert numbers.train_loss(read).item() == pytest.approx(errors[train_nodes].mean())
    assert numbers.val_loss(read).item() == pytest.approx(errors[val_nodes].mean())
    assert numbers.val_score(outputs) == pytest.approx(errors[val_nodes].mean())


def test_a_network_learns_a_filter_on_all_nodes(filtered):
    spec, fit = fitted(filtered, "gcn", max_epochs=300, patience=50)
    record = fit.record
    assert record.metric == "mse"
    assert (record.train_nodes, record.val_nodes, count_tested(spec, filtered)) == (8, 8, 8)
    assert record.val_score < 0.5 * np.square(filtered.targets).mean()
    assert record.val_score == pytest.approx(record.val_loss)
    assert score_on_test(fit, spec, filtered) == record.val_score
    assert tuple(fit.logits.shape) == filtered.targets.shape


@pytest.mark.parametrize("regularizer", sorted(set(REGULARIZERS) - {"adagraph", "prior", "seen"}))
def test_every_other_regularizer_acts_on_numbers_as_on_logits(regularizer, filtered):
    params = {"reduction": "trace", "clamp": None} if regularizer in ("clar", "nl") else {}
    _, fit = fitted(filtered, f"gcn+{regularizer}", params, max_epochs=5)
    assert math.isfinite(fit.record.val_score)
    _, plain = fitted(filtered, "gcn", max_epochs=5)
    assert torch.equal(fit.logits, plain.logits) == (regularizer == "none")


def test_training_stops_on_the_error_of_training(filtered):
    losses = []
    spec = spec_of(filtered, "gcn", {"lr": 0.5}, max_epochs=500, patience=10)
    nodes = splits.search_nodes(filtered, ALL, 0)
    fit = train(spec, TensorGraph.of(filtered), nodes, lambda _, loss, __: losses.append(loss))
    assert fit.record.best_epoch == int(np.argmin(losses)) + 1
    assert fit.record.epochs == fit.record.best_epoch + 10 == len(losses)
    assert fit.record.val_loss == min(losses)


def test_the_whole_graph_has_one_split_and_fresh_weights_each_time(tiny_graph):
    pairs = [splits.seed_pair("tiny", ALL, 0, index, "final") for index in range(3)]
    assert [split for split, _ in pairs] == [0, 0, 0]
    assert len({init for _, init in pairs}) == 3
    nodes = splits.search_nodes(tiny_graph, ALL, 0)
    everyone = list(range(8))
    tested = splits.test_nodes(tiny_graph, ALL, 0)
    assert nodes.train.tolist() == nodes.val.tolist() == tested.tolist() == everyone
    with pytest.raises(ParameterError, match="own test nodes"):
        splits.search_nodes(tiny_graph, ALL, 0, outer_test=0.2)


@pytest.mark.parametrize(
    ("metric", "protocol", "select", "method", "problem"),
    [
        ("mse", "balanced-60-20-20", "loss", "gcn", "Choose the protocol whole-graph"),
        ("accuracy", ALL, "loss", "gcn", "nodes that they were learned from"),
        ("mse", ALL, "accuracy", "gcn", "select accuracy: the metric here is mse. Choose loss"),
        ("mse", ALL, "loss", "gcn+adagraph", "goes by predicted classes"),
    ],
)
def test_what_cannot_be_learned_together_is_refused(metric, protocol, select, method, problem):
    with pytest.raises(ParameterError, match=problem):
        check_objective(metric, protocol, select, Method.parse(method))


def test_what_can_be_learned_together_is_not_refused():
    check_objective("mse", ALL, "loss", Method.parse("gcn+clar"))
    check_objective("accuracy", "planetoid", "accuracy", Method.parse("gcn+adagraph"))
    for select in ("loss", "accuracy"):
        check_objective("roc_auc", "fixed-10", select, Method.parse("gcn"))


def test_dense_features_train_as_sparse_ones_do(tiny_graph):
    dense = replace(tiny_graph, features=tiny_graph.features.toarray())
    assert dense.hash != tiny_graph.hash
    nodes = SearchNodes(np.array([0, 1, 4, 5]), np.array([2, 6]))
    methods, found = ("gcn", "gat", "sage", "cheby", "gpr", "mlp"), []
    for graph in (tiny_graph, dense):
        for method in methods:
            spec = replace(spec_of(tiny_graph, method), max_epochs=5)
            found.append(train(spec, TensorGraph.of(graph), nodes).logits)
    for method, sparse, other in zip(methods, found[:6], found[6:], strict=True):
        # Adam turns the last digit of a gradient near zero, which depends on the processor, into a
        # visible step: 1e-5 of gat's outputs on one of them, where a fault would be near 1.
        allowed = 1e-4 * sparse.abs().max().item() if method == "gat" else 1e-5
        assert torch.allclose(sparse, other, atol=allowed), method


# What gpr and cheby learned.


def test_gpr_tells_its_weights_and_cheby_the_products_of_its_own(tiny_graph):
    nodes = SearchNodes(np.array([0, 1, 4, 5]), np.array([2, 6]))
    fits = {
        method: train(spec_of(tiny_graph, method, {"K": 3}), TensorGraph.of(tiny_graph), nodes)
        for method in ("gpr", "cheby")
    }
    gpr = fits["gpr"].model.network
    assert fits["gpr"].record.facts == {f"gamma_{k}": gpr.gamma[k].item() for k in range(4)}
    cheby, facts = fits["cheby"].model.network, fits["cheby"].record.facts
    assert len(facts) == 2 * 10
    for number, layer in enumerate(cheby.layers):
        for k in range(4):
            for j in range(k, 4):
                product = (layer.weights[k] * layer.weights[j]).sum().item()
                assert facts[f"gram_layer_{number}_{k}_{j}"] == pytest.approx(product, rel=1e-4)


def test_other_networks_tell_nothing(tiny_graph):
    nodes = SearchNodes(np.array([0, 1, 4, 5]), np.array([2, 6]))
    spec = spec_of(tiny_graph, "gcn", max_epochs=2)
    assert train(spec, TensorGraph.of(tiny_graph), nodes).record.facts == {}


# The scale of clar.


def test_scale_multiplies_both_weights_of_clar(tiny_graph):
    nodes = SearchNodes(np.array([0, 1, 4, 5]), np.array([2, 6]))
    weights = {"alpha": 0.02, "beta": 0.05, "clamp": None}
    tenfold = {"alpha": 0.2, "beta": 0.5, "clamp": None}
    found = [
        train(spec_of(tiny_graph, "gcn+clar", params), TensorGraph.of(tiny_graph), nodes).logits
        for params in ({**weights, "scale": 10}, tenfold, weights)
    ]
    assert torch.allclose(found[0], found[1], atol=1e-6)
    assert not torch.allclose(found[0], found[2], atol=1e-3)


def test_a_scale_of_one_is_not_named_so_that_keys_stay_as_they_were(monkeypatch):
    graph, clar = load("csbm-homophily"), Method.parse("gcn+clar")
    assert "scale" not in clar.complete({}) and "scale" not in clar.complete({"scale": 1})
    assert clar.complete({"scale": 10})["scale"] == 10.0
    assert "scale" not in Method.parse("gcn+nl").parameters()
    seeds = splits.seed_pair(graph.name, "balanced-60-20-20", 0, 0, "repeat")
    spec = clar.spec(graph, {}, "balanced-60-20-20", seeds)
    assert spec.key == "efb1abf38a0ed801"
    for version, key in ((2, "7641cfc557a6d201"), (3, "90ef0c5db749f283")):
        monkeypatch.setattr("clar_tune.records.NUMBERS_VERSION", version)
        assert spec.key == key
