"""Whole trainings: the same mathematics, selection, stopping and errors as the torch path."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from support.engines import generated, halves, initial_weights, run_both, spec_of

from clar_tune.engine import ArrayGraph, cannot, program_of, programs, task_of, train
from clar_tune.engine.problem import EPOCH, FINISHED, STOP, STOPPED
from clar_tune.errors import Diverged, ParameterError, Stopped, TrainingError
from clar_tune.graphs import Graph, SearchNodes
from clar_tune.models import TensorGraph
from clar_tune.training import make_ready, train as torch_train

BACKBONES = ["mlp", "gcn", "sage", "cheby", "gpr", "gat"]
SHAPES = [{}, {"layers": 1}, {"hidden": 7}, {"hidden": 70}]
# With larger steps torch's own float32 leaves float64 by 5e-4 within 20 epochs of five layers.
SHAPES += [{"layers": 5, "hidden": 20, "lr": 0.001}]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_trajectory_is_that_of_the_torch_path(backbone, shape):
    graph = generated()
    both = run_both(spec_of(graph, backbone, **shape), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)
    record = both.fit.record
    assert both.outcome.failed == FINISHED
    assert both.outcome.best_epoch == record.best_epoch
    assert both.outcome.val_score == pytest.approx(record.val_score)
    assert both.outcome.val_loss == pytest.approx(record.val_loss, rel=1e-5)
    np.testing.assert_allclose(both.prepared.outputs(), both.fit.logits, atol=1e-4)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_directed_graphs_keep_their_directions(backbone):
    graph = generated(directed=True)
    both = run_both(spec_of(graph, backbone), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_numbers_are_learned_too(backbone):
    rng = np.random.default_rng(1)
    targets = rng.normal(size=(60, 3)).astype(np.float32)
    graph = replace(generated(), targets=targets, metric="mse")
    both = run_both(spec_of(graph, backbone), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)
    assert both.outcome.val_score == pytest.approx(both.fit.record.val_score, rel=1e-5)


def test_dense_features_are_learned_from():
    graph = replace(generated(), features=generated().features.toarray())
    both = run_both(spec_of(graph, "gcn"), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)


def test_sixty_four_layers_are_trained():
    graph = generated()
    both = run_both(spec_of(graph, "gcn", layers=64, hidden=8), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)


@pytest.mark.parametrize("select", ["loss", "accuracy"])
@pytest.mark.parametrize("patience", [1, 4])
def test_selection_and_patience_are_those_of_the_torch_path(select, patience):
    graph = generated()
    rules = {"max_epochs": 200, "patience": patience, "warmup": 0, "select": select}
    both = run_both(spec_of(graph, "gcn", rules, lr=0.05), graph)
    record = both.fit.record
    assert (both.outcome.epochs, both.outcome.best_epoch) == (record.epochs, record.best_epoch)
    assert record.epochs < 200


def test_warmup_holds_patience_up():
    graph = generated()
    rules = {"max_epochs": 200, "patience": 1, "warmup": 30, "select": "accuracy"}
    both = run_both(spec_of(graph, "gcn", rules), graph)
    assert both.outcome.epochs == both.fit.record.epochs >= 30


def test_the_released_rule_waits_for_a_late_best_epoch():
    graph = generated()
    rules = {"max_epochs": 120, "patience": 2, "warmup": 0, "select": "accuracy"}
    spec = spec_of(graph, "gcn", rules, lr=0.05)
    arrays, nodes = ArrayGraph.of(graph), halves(graph)
    early = train(spec, arrays, nodes).record
    assert early.best_epoch <= 50 and early.epochs < 50
    released = replace(spec, stop="released", warmup=50)
    both = run_both(released, graph)
    assert (both.outcome.epochs, both.outcome.best_epoch) == (
        both.fit.record.epochs,
        both.fit.record.best_epoch,
    )
    assert both.outcome.epochs == 120 or both.outcome.best_epoch > 50


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_record_is_that_of_a_training(backbone, dropout):
    graph = generated()
    spec = spec_of(graph, backbone, {"max_epochs": 30, "patience": 5}, dropout=dropout)
    fit = train(spec, ArrayGraph.of(graph), halves(graph))
    logits, nodes = fit.logits, halves(graph)
    assert logits.shape == (60, 3)
    hits = logits[nodes.val].argmax(axis=1) == graph.labels[nodes.val]
    assert fit.record.val_score == hits.mean()
    assert fit.record.key == spec.key
    assert (fit.record.train_nodes, fit.record.val_nodes) == (30, 30)
    assert fit.record.penalty_active is None
    shapes = {name: value.shape for name, value in fit.weights.items()}
    theirs = initial_weights(spec, TensorGraph.of(graph))
    assert shapes == {name: value.shape for name, value in theirs.items()}


@pytest.mark.parametrize("backbone", BACKBONES)
def test_weights_of_the_selected_epoch_give_its_outputs_in_torch(backbone):
    import torch

    from clar_tune.models import Method

    graph = generated()
    spec = spec_of(graph, backbone, {"max_epochs": 30}, dropout=0.5)
    fit = train(spec, ArrayGraph.of(graph), halves(graph))
    tensors = TensorGraph.of(graph)
    model = Method(backbone).build_model(tensors, spec.params).eval()
    state = {f"network.{name}": torch.tensor(value) for name, value in fit.weights.items()}
    model.load_state_dict(state)
    with torch.no_grad():
        logits = model(tensors, tensors.adjacency)
    np.testing.assert_allclose(fit.logits, logits, atol=1e-4)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_weights_start_as_torchs_do(backbone):
    graph = generated(400)
    spec = spec_of(graph, backbone, hidden=64, layers=3)
    theirs = initial_weights(spec, TensorGraph.of(graph))
    prepared = task_of(spec, ArrayGraph.of(graph), halves(graph))
    ours = prepared.layout.unpacked(prepared.task.weights)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        assert values.shape == theirs[name].shape
        same = stats.ks_2samp(values.ravel(), theirs[name].ravel()).pvalue
        assert same > 1e-4, name


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_what_is_not_finite_is_refused_in_the_torch_paths_words(backbone, dropout, value):
    graph = generated()
    features = graph.features.copy()
    features.data[:] = value
    graph = replace(graph, features=features)
    spec = spec_of(graph, backbone, dropout=dropout)
    with pytest.raises(Diverged) as theirs:
        torch_train(spec, TensorGraph.of(graph), halves(graph))
    with pytest.raises(Diverged) as ours:
        train(spec, ArrayGraph.of(graph), halves(graph))
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_learning_rate_that_explodes_is_refused(backbone):
    graph = generated()
    with pytest.raises(Diverged, match="loss became (nan|inf)"):
        train(spec_of(graph, backbone, lr=1e30), ArrayGraph.of(graph), halves(graph))


@pytest.mark.parametrize("backbone", BACKBONES)
def test_trainings_are_equal_to_the_last_bit_alone_and_in_two_threads(backbone):
    graph = generated(200)
    arrays, nodes = ArrayGraph.of(graph), halves(graph)
    spec = spec_of(graph, backbone, {"max_epochs": 60}, dropout=0.5)
    call = program_of(backbone)

    def trained():
        prepared = task_of(spec, arrays, nodes, history=True)
        call(*prepared.task)
        return prepared.task

    alone, beside = trained(), []
    threads = [threading.Thread(target=lambda: beside.append(trained())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(beside) == 2
    for task in (*beside, trained()):
        assert np.array_equal(task.history, alone.history)
        assert np.array_equal(task.best, alone.best)


def test_other_seeds_give_other_trainings():
    graph = generated()
    arrays, nodes = ArrayGraph.of(graph), halves(graph)
    spec = spec_of(graph, "gcn", dropout=0.5)
    one, other = (train(replace(spec, init_seed=seed), arrays, nodes) for seed in (1, 2))
    assert one.record.val_loss != other.record.val_loss


def test_a_stop_flag_acts_within_an_epoch():
    graph = generated()
    spec = spec_of(graph, "gcn", {"max_epochs": 10**9, "patience": 10**9}, dropout=0.5)
    prepared = task_of(spec, ArrayGraph.of(graph), halves(graph))
    prepared.task.progress[STOP] = 1.0
    outcome = program_of("gcn")(*prepared.task)
    assert (outcome.failed, outcome.epochs) == (STOPPED, 1)


def test_a_stop_flag_ends_a_running_program():
    graph = generated()
    spec = spec_of(graph, "gcn", {"max_epochs": 10**9, "patience": 10**9}, dropout=0.5)
    task = task_of(spec, ArrayGraph.of(graph), halves(graph)).task
    call, outcomes = program_of("gcn"), []
    thread = threading.Thread(target=lambda: outcomes.append(call(*task)))
    thread.start()
    while task.progress[EPOCH] < 3:  # it runs without the interpreter's lock
        thread.join(0.001)
    task.progress[STOP] = 1.0
    thread.join()
    assert outcomes[0].failed == STOPPED
    assert outcomes[0].epochs >= 3


def test_a_limit_of_time_ends_a_training():
    graph = generated()
    spec = spec_of(graph, "gcn", {"max_epochs": 10**9, "patience": 10**9}, dropout=0.5)
    with pytest.raises(Stopped, match="gcn on generated was stopped after epoch"):
        train(spec, ArrayGraph.of(graph), halves(graph), seconds=0.0)


def test_whoever_watches_is_told_and_can_interrupt():
    graph = generated()
    spec = spec_of(graph, "gcn", {"max_epochs": 10**9, "patience": 10**9}, dropout=0.5)
    seen = []

    def report(epoch, loss, score):
        seen.append((epoch, loss, score))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(spec, ArrayGraph.of(graph), halves(graph), report)
    epoch, loss, score = seen[0]
    assert epoch >= 1 and np.isfinite(loss) and 0 <= score <= 1


@pytest.mark.parametrize(
    ("method", "metric", "reason"),
    [
        ("gcn+adagraph", "accuracy", "regularizer adagraph"),
        ("gcn", "hits", "metric hits"),
    ],
)
def test_what_the_engine_does_not_train_is_refused(method, metric, reason):
    graph = replace(generated(), metric=metric)
    spec = spec_of(graph, method)
    assert cannot(spec.backbone, spec.regularizer, metric) == reason
    with pytest.raises(ParameterError, match=f"{reason}: the native engine does not train it"):
        train(spec, ArrayGraph.of(graph), halves(graph))


def test_an_epoch_is_not_selected_by_a_score_that_torch_takes():
    assert cannot("gcn", "none", "roc_auc", "accuracy") == "selection by ROC AUC"
    assert cannot("gcn", "none", "roc_auc", "loss") is None
    graph = replace(generated(classes=2), metric="roc_auc")
    with pytest.raises(ParameterError, match="selection by ROC AUC"):
        train(spec_of(graph, "gcn", {"select": "accuracy"}), ArrayGraph.of(graph), halves(graph))


def test_a_module_of_the_users_is_refused():
    assert cannot("my.models:Net", "none", "accuracy") == "backbone my.models:Net"
    assert cannot("gcn", "clar", "accuracy") is None


@pytest.mark.parametrize("size", [7, 36, 41, 49])
def test_an_accuracy_is_a_quotient_to_the_last_digit(size):
    graph = generated(120)
    nodes = SearchNodes(train=np.arange(60), val=np.arange(60, 60 + size))
    for seed in range(5):
        spec = replace(spec_of(graph, "gcn", {"max_epochs": 3}), init_seed=seed)
        fit = train(spec, ArrayGraph.of(graph), nodes)
        right = int((fit.logits[nodes.val].argmax(1) == graph.labels[nodes.val]).sum())
        assert fit.record.val_score == right / size


def test_an_empty_split_is_refused():
    graph = generated()
    nodes = SearchNodes(train=np.arange(3), val=np.arange(0))
    with pytest.raises(ParameterError, match="got 3 and 0"):
        train(spec_of(graph, "gcn"), ArrayGraph.of(graph), nodes)


@pytest.mark.parametrize(
    ("train_nodes", "message"),
    [([0, -1], "2 from -1 to 0"), ([0, 60], "2 from 0 to 60"), ([1, 1], "1 of them different")],
)
def test_nodes_that_are_none_are_refused(train_nodes, message):
    graph = generated(60)
    nodes = SearchNodes(train=np.array(train_nodes), val=np.arange(3, 6))
    with pytest.raises(ParameterError, match=message):
        train(spec_of(graph, "gcn"), ArrayGraph.of(graph), nodes)


@pytest.mark.parametrize("label", [-1, 3])
def test_classes_that_are_none_are_refused(label):
    graph = generated(60)
    arrays = ArrayGraph.of(graph)
    arrays.labels[2] = label
    with pytest.raises(ParameterError, match="classes from"):
        train(spec_of(graph, "gcn"), arrays, halves(graph))
    elsewhere = SearchNodes(train=np.arange(4, 20), val=np.arange(20, 30))
    train(spec_of(graph, "gcn"), arrays, elsewhere)  # test nodes may have none


def test_weights_of_another_shape_are_refused():
    graph = generated(60)
    spec = spec_of(graph, "gcn")
    weights = initial_weights(spec, TensorGraph.of(graph))
    name = next(iter(weights))
    for wrong in ({**weights, name: np.zeros(1)}, {**weights, "more": np.zeros(1)}, {}):
        with pytest.raises(ParameterError, match="weights of"):
            train(spec, ArrayGraph.of(graph), halves(graph), weights=wrong)


def test_a_process_that_trains_compiles_nothing():
    """What it compiled would call kernels that LLVM optimised on their own: other last digits."""
    stats = program_of("gcn").stats
    assert sum(stats.cache_hits.values()) == 1 and not stats.cache_misses


def test_sources_that_were_edited_are_said_before_anything_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(programs.SOURCES, "digest", "another")
    with pytest.raises(TrainingError, match="begin it anew"):
        programs._loaded.__wrapped__("gcn")
    monkeypatch.setattr(programs, "_loaded", programs._loaded.__wrapped__)
    assert "begin it anew" in make_ready(replace(spec_of(generated(), "gcn"), engine="native"))


def test_the_last_epoch_is_told():
    graph, seen = generated(), []
    spec = spec_of(graph, "gcn", {"max_epochs": 7})

    def report(epoch, loss, score):
        seen.append((epoch, loss, score))

    record = train(spec, ArrayGraph.of(graph), halves(graph), report).record
    assert seen[-1][0] == record.epochs and seen[-1][2] == record.val_score


def test_what_is_made_of_a_graph_is_made_once_by_one_thread():
    arrays, made = ArrayGraph.of(generated()), []

    def make():
        time.sleep(0.01)  # others ask meanwhile
        made.append(1)
        return made

    threads = [threading.Thread(target=arrays.once, args=("it", make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1] and arrays.once("it", make) is made


def test_a_graph_without_features_of_a_node_is_trained():
    features = sp.csr_array((10, 4), dtype=np.float32)
    labels = np.arange(10) % 2
    graph = Graph("empty", features, np.zeros((2, 0), np.int64), labels)
    both = run_both(spec_of(graph, "gcn"), graph)
    np.testing.assert_allclose(both.native, both.torch, rtol=1e-5)
