import pytest
import torch

from clar_tune.errors import TrainingError
from clar_tune.graphs import load, search_nodes, seed_pair, threads
from clar_tune.models import Method, TensorGraph
from clar_tune.training import held_out, train
from clar_tune.training.scores import accuracy, roc_auc, score


def test_accuracy_counts_the_largest_logit():
    logits = torch.tensor([[2.0, 1.0], [0.0, 1.0], [3.0, 0.0], [0.0, 9.0]])
    assert accuracy(logits, torch.tensor([0, 1, 1, 1])) == 0.75


def test_roc_auc_is_the_share_of_pairs_in_order():
    """Scores 1 3 2 2 with labels 0 1 0 1: of four pairs three in order, one tie."""
    logits = torch.tensor([[0.0, 1.0], [0.0, 3.0], [0.0, 2.0], [0.0, 2.0]])
    assert roc_auc(logits, torch.tensor([0, 1, 0, 1])) == pytest.approx(3.5 / 4)


def test_roc_auc_needs_both_classes():
    with pytest.raises(TrainingError, match="both classes, and the 3 nodes .* all of class 1"):
        roc_auc(torch.randn(3, 2), torch.ones(3, dtype=torch.long))


def test_score_looks_at_the_given_nodes_only():
    logits = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    labels = torch.tensor([0, 1, 1])
    assert score("accuracy", logits, labels, torch.tensor([0])) == 1
    assert score("accuracy", logits, labels, torch.tensor([0, 1])) == 0.5


def test_a_final_is_scored_with_the_threads_that_it_was_trained_with(monkeypatch):
    """The last digits of a sum depend on them, and a worker may have another number."""
    graph = load("csbm-homophily")
    seeds = seed_pair(graph.name, "random-60-20-20", 0, 0, "final")
    spec = Method("gcn").spec(graph, {}, "random-60-20-20", seeds, max_epochs=1, threads=1)
    fit = train(spec, TensorGraph.of(graph), search_nodes(graph, spec.protocol, spec.split_seed))
    counts = []
    monkeypatch.setattr(held_out, "score", lambda *given: counts.append(torch.get_num_threads()))
    with threads(2):
        held_out.test_score(fit, spec, graph)
    assert counts == [1]
