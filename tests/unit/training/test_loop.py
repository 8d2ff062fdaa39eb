"""The training loop on generated and real graphs."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from clar_tune.errors import ClarTuneError, Diverged, UnknownName, WrongShape
from clar_tune.graphs import splits
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.loading import load
from clar_tune.graphs.splits import SearchNodes
from clar_tune.models.backbones import BACKBONES
from clar_tune.models.method import Method
from clar_tune.models.regularizers import REGULARIZERS
from clar_tune.models.tensors import TensorGraph
from clar_tune.records import TrainSpec
from clar_tune.switches import OFF
from clar_tune.training.held_out import test_score as score_on_test
from clar_tune.training.loop import train


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm-homophily")


@pytest.fixture(scope="module")
def tensors(graph) -> TensorGraph:
    return TensorGraph.of(graph)


def spec_of(graph: Graph, method: str, params=None, **rules) -> TrainSpec:
    protocol = rules.pop("protocol", "balanced-60-20-20")
    seeds = splits.seed_pair(graph.name, protocol, 0, 0, "repeat")
    return Method.parse(method).spec(graph, params or {}, protocol, seeds, **rules)


def nodes_of(graph: Graph, spec: TrainSpec) -> SearchNodes:
    return splits.search_nodes(graph, spec.protocol, spec.split_seed)


def numbers(fit) -> tuple:
    record = replace(fit.record, seconds=0.0)
    return record, fit.logits.tolist()


@pytest.mark.parametrize("regularizer", REGULARIZERS)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_every_method_trains_and_repeats_to_the_last_digit(backbone, regularizer, graph, tensors):
    spec = spec_of(graph, f"{backbone}+{regularizer}", {"dropout": 0.3}, max_epochs=4)
    nodes = nodes_of(graph, spec)
    first, second = (train(spec, tensors, nodes) for _ in range(2))
    assert numbers(first) == numbers(second)
    record = first.record
    assert 0 <= record.val_score <= 1
    assert 1 <= record.best_epoch <= 4
    assert record.seconds > 0
    assert (record.train_nodes, record.val_nodes) == (len(nodes.train), len(nodes.val))
    quiet = regularizer in ("none", "dropedge", "adagraph", "prior", "seen")
    assert (record.penalty_active is None) == quiet
    if not quiet:
        assert 0 <= record.penalty_active <= 1
        assert all(np.isfinite(term.value) for term in record.terms.values())


def test_the_global_generator_and_thread_count_are_left_alone(graph, tensors):
    before = torch.get_num_threads()
    torch.manual_seed(1)
    state = torch.get_rng_state()
    seen = []

    def report(*_: float) -> None:
        seen.append(torch.get_num_threads())

    spec = spec_of(graph, "gcn+clar", {"dropout": 0.5}, max_epochs=3, threads=3)
    train(spec, tensors, nodes_of(graph, spec), report)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == before
    assert set(seen) == {3}


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("method", [f"gcn+{name}" for name in REGULARIZERS if name != "none"])
def test_a_regularizer_of_no_weight_is_the_plain_backbone(method, dropout, graph, tensors):
    plain = spec_of(graph, "gcn", {"dropout": dropout}, max_epochs=6)
    nodes = nodes_of(graph, plain)
    expected = train(plain, tensors, nodes)
    for nothing in OFF[method.partition("+")[2]]:
        other = spec_of(graph, method, {"dropout": dropout, **nothing}, max_epochs=6)
        found = train(other, tensors, nodes)
        assert torch.equal(expected.logits, found.logits)
        assert expected.record.val_loss == found.record.val_loss


def test_one_pass_for_training_and_evaluation_changes_nothing(graph, tensors, monkeypatch):
    spec = spec_of(graph, "gcn+clar", {"beta": 0.5}, max_epochs=20)
    nodes = nodes_of(graph, spec)
    shared = train(spec, tensors, nodes)
    monkeypatch.setattr("clar_tune.models.method.Model.deterministic", False)
    separate = train(spec, tensors, nodes)
    assert shared.record.val_loss == pytest.approx(separate.record.val_loss, rel=1e-5)
    assert torch.allclose(shared.logits, separate.logits, atol=1e-5)


def test_the_weights_of_the_selected_epoch_are_kept(graph, tensors):
    losses = []
    spec = spec_of(graph, "gcn", {"lr": 0.1}, patience=15, warmup=0)
    fit = train(spec, tensors, nodes_of(graph, spec), lambda _, loss, __: losses.append(loss))
    best = int(np.argmin(losses)) + 1
    assert fit.record.best_epoch == best
    assert fit.record.epochs == len(losses) == best + 15
    val = torch.tensor(nodes_of(graph, spec).val)
    again = cross_entropy(fit.logits[val], tensors.labels[val]).item()
    assert again == pytest.approx(fit.record.val_loss) == min(losses)


def test_nothing_stops_before_the_warm_up(graph, tensors):
    spec = spec_of(graph, "gcn", {"lr": 0.5}, patience=1, warmup=30)
    assert train(spec, tensors, nodes_of(graph, spec)).record.epochs >= 30


def test_the_released_rule_never_stops_while_the_best_epoch_is_early(graph, tensors):
    """Sage overfits soon: patience passes, and the best epoch stays early."""
    usual = spec_of(graph, "sage", {"lr": 0.1}, patience=10, warmup=50, max_epochs=200)
    nodes = nodes_of(graph, usual)
    stopped = train(usual, tensors, nodes).record
    assert stopped.best_epoch <= 40 and stopped.epochs == 50
    patient = train(replace(usual, stop="released"), tensors, nodes).record
    assert patient.best_epoch == stopped.best_epoch and patient.epochs == 200
    late = replace(usual, stop="released", warmup=stopped.best_epoch - 1)
    assert train(late, tensors, nodes).record.epochs == stopped.best_epoch + 10
    with pytest.raises(UnknownName, match="stop"):
        train(replace(usual, stop="never"), tensors, nodes)


def test_epochs_with_a_gradient_above_the_clamp_and_at_zero(graph, tensors):
    """With a high learning rate the raw trace soon is far above a clamp at 1."""
    nodes = nodes_of(graph, spec_of(graph, "gcn"))

    def shares(method: str, **params) -> tuple:
        spec = spec_of(graph, method, params, max_epochs=8)
        record = train(spec, tensors, nodes).record
        return record.penalty_active, record.penalty_above, record.penalty_zero

    assert shares("gcn+clar", reduction="trace", lr=0.3)[1] > 0.5
    active, above, zero = shares("gcn+nl", reduction="trace", lr=0.3)
    assert active > 0 and above > 0 and active + above == 1  # one term is in one place
    assert 0 < zero < active  # below the clamp it soon holds a collapse
    assert shares("gcn+nl", clamp=None) == (1.0, 0.0, 0.0)
    assert shares("gcn+nl", alpha=0.0) == (0.0, 0.0, 0.0)
    assert shares("gcn+clar", layers=1, hidden=1, lr=1e-9, clamp=1e-9)[1] == 1.0
    for quiet in ("gcn", "gcn+dropedge", "gcn+adagraph"):
        assert shares(quiet) == (None, None, None)


def test_a_collapse_is_at_zero(graph, tensors):
    """An mlp without inputs has equal outputs at all nodes."""
    empty = replace(graph, features=graph.features * 0)
    spec = spec_of(empty, "mlp+nl", max_epochs=4)
    record = train(spec, TensorGraph.of(empty), nodes_of(empty, spec)).record
    assert (record.penalty_above, record.penalty_zero) == (0, 1)
    assert record.terms["ori"].value < 1e-12  # rounding may leave a little


def test_selection_by_accuracy_takes_the_highest_score_then_the_lowest_loss(graph, tensors):
    by_loss = spec_of(graph, "gcn", {"lr": 0.3})
    by_accuracy = replace(by_loss, select="accuracy")
    nodes = nodes_of(graph, by_loss)
    first, second = (train(spec, tensors, nodes).record for spec in (by_loss, by_accuracy))
    assert second.val_score > first.val_score
    assert second.val_loss > first.val_loss
    with pytest.raises(UnknownName, match="select"):
        train(replace(by_loss, select="luck"), tensors, nodes)


def test_of_epochs_with_equal_accuracy_the_lowest_loss_is_selected(graph, tensors):
    spec = replace(spec_of(graph, "gcn", max_epochs=60), select="accuracy", patience=60)
    seen = []
    nodes = nodes_of(graph, spec)
    record = train(
        spec, tensors, nodes, lambda epoch, loss, best: seen.append((loss, best))
    ).record
    best = seen[-1][1]
    # The selected loss is lowered as long as the score stays: later epochs of that score,
    # which the reports cannot tell apart from worse ones, bound it from below.
    first = next(number for number, (_, score) in enumerate(seen) if score == best)
    assert record.val_score == best
    assert record.best_epoch > first + 1, "no epoch repeats the best score: nothing is tested"
    assert record.val_loss < seen[first][0]
    assert record.val_loss >= min(loss for loss, _ in seen[first:])


def test_a_clamp_on_the_raw_trace_switches_clar_off_and_the_record_says_so(graph, tensors):
    params = {"reduction": "trace", "clamp": 1e-6, "alpha": 1.0, "beta": 1.0}
    spec = spec_of(graph, "gcn+clar", params, max_epochs=20)
    record = train(spec, tensors, nodes_of(graph, spec)).record
    assert record.penalty_active == 0
    assert set(record.terms) == {"com", "ori"}
    assert record.terms["com"].value > 1e-6


def test_a_penalty_of_no_weight_was_never_active(graph, tensors):
    spec = spec_of(graph, "gcn+clar", {"alpha": 0, "beta": 0}, max_epochs=2)
    assert train(spec, tensors, nodes_of(graph, spec)).record.penalty_active == 0


def test_a_negative_penalty_of_ones_own_is_active(graph, tensors):
    spec = spec_of(graph, "gcn+support.own_classes:Reward", max_epochs=5)
    record = train(spec, tensors, nodes_of(graph, spec)).record
    assert record.terms["penalty"].value < 0
    assert record.penalty_active == 1


@pytest.mark.parametrize(
    "wrong", [{"max_epochs": 0}, {"threads": 0}, {"patience": 0}, {"optimizer": "sgd"}]
)
def test_an_impossible_specification_is_refused(wrong, graph, tensors):
    spec = replace(spec_of(graph, "gcn"), **wrong)
    with pytest.raises(ClarTuneError, match=next(iter(wrong))):
        train(spec, tensors, nodes_of(graph, spec))


def test_a_split_without_validation_nodes_is_refused(graph, tensors):
    spec = spec_of(graph, "gcn")
    nobody = np.empty(0, dtype=np.int64)
    with pytest.raises(ClarTuneError, match="nodes to train and to validate"):
        train(spec, tensors, SearchNodes(nodes_of(graph, spec).train, nobody))


def test_divergence_is_named(graph, tensors):
    spec = spec_of(graph, "gcn", {"lr": 1e30}, max_epochs=50)
    with pytest.raises(Diverged, match=r"loss became (nan|inf) in epoch \d+ of gcn.*Lower"):
        train(spec, tensors, nodes_of(graph, spec))


def test_an_own_backbone_trains_or_is_refused_by_name(graph, tensors):
    spec = spec_of(graph, "support.own_classes:Batchnormed+clar", max_epochs=15)
    nodes = nodes_of(graph, spec)
    fit = train(spec, tensors, nodes)
    val = torch.tensor(nodes.val)
    again = cross_entropy(fit.logits[val], tensors.labels[val]).item()
    assert again == pytest.approx(fit.record.val_loss, rel=1e-5)
    with pytest.raises(WrongShape, match=r"Silent: logits of shape \(600, 4\).*got \(600, 3\)"):
        train(replace(spec, backbone="support.own_classes:Silent"), tensors, nodes)
    with pytest.raises(Diverged, match="nan"):
        train(replace(spec, backbone="support.own_classes:Nan"), tensors, nodes)


def test_adagraph_counts_the_cost_of_all_rounds(graph, tensors):
    params = {"rounds": 3, "t_add": 0.3, "t_drop": 0.3}
    spec = spec_of(graph, "gcn+adagraph", params, max_epochs=5)
    record = train(spec, tensors, nodes_of(graph, spec)).record
    assert record.epochs == 15
    assert record.round in (1, 2, 3)
    assert record.best_epoch <= 5


def test_test_nodes_are_scored_apart(graph, tensors):
    spec = spec_of(graph, "sage", {"lr": 0.05}, max_epochs=60)
    fit = train(spec, tensors, nodes_of(graph, spec))
    held_out = splits.test_nodes(graph, spec.protocol, spec.split_seed)
    right = fit.logits[held_out].argmax(1).numpy() == graph.labels[held_out]
    assert score_on_test(fit, spec, graph) == right.mean() > 0.5


def test_training_learns_what_the_graph_tells(graph, tensors):
    spec = spec_of(graph, "gcn+clar", {"alpha": 0.1, "beta": 0.1})
    assert train(spec, tensors, nodes_of(graph, spec)).record.val_score > 0.7


# Real graphs.


@pytest.mark.parametrize("name", ["texas", "actor"])
@pytest.mark.parametrize("preprocessing", ["undirected", "released"])
def test_directed_graphs_train_under_both_preprocessings(name, preprocessing, data_folder):
    graph = load(name, preprocessing, data_folder)
    assert graph.is_symmetric == (preprocessing == "undirected")
    tensors = TensorGraph.of(graph)
    for method in ("gcn+clar", "sage", "gat", "cheby", "gcn+dropedge", "gcn+adagraph"):
        spec = spec_of(graph, method, max_epochs=3)
        assert 0 < train(spec, tensors, nodes_of(graph, spec)).record.val_loss < 2


def test_chameleon_with_a_clamped_trace_reports_that_nothing_happened(data_folder):
    graph = load("chameleon", data=data_folder)
    params = {"reduction": "trace", "clamp": 1.0, "lr": 0.05}
    spec = spec_of(graph, "gcn+clar", params, max_epochs=60)
    record = train(spec, TensorGraph.of(graph), nodes_of(graph, spec)).record
    assert record.penalty_active < 0.05


def test_unbalanced_graphs_are_scored_by_roc_auc(data_folder):
    graph = load("minesweeper", data=data_folder)
    spec = spec_of(graph, "sage", {"lr": 0.05}, max_epochs=30, protocol="fixed-10")
    fit = train(spec, TensorGraph.of(graph), nodes_of(graph, spec))
    assert fit.record.metric == "roc_auc"
    assert 0.5 < score_on_test(fit, spec, graph) < 1


def test_a_training_is_done_where_its_specification_says(graph, tensors):
    spec = spec_of(graph, "gcn", device="cuda")
    with pytest.raises(ClarTuneError, match="device cuda: the graph's tensors are on cpu"):
        train(spec, tensors, nodes_of(graph, spec))
