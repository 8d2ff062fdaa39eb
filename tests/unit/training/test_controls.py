"""The controls `prior` and `seen`: their formulas, and what a training makes of them."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.graphs import load, search_nodes, seed_pair
from clar_tune.models.method import Method
from clar_tune.models.regularizers import Known, Prior, Seen
from clar_tune.models.regularizers.controls import TAUS
from clar_tune.models.tensors import TensorGraph
from clar_tune.training.held_out import test_scores as scores_on_test
from clar_tune.training.loop import train
from clar_tune.training.objectives import check_objective
from clar_tune.training.scores import accuracy

BALANCED = "balanced-60-20-20"


def known(train_classes: list[int], val_nodes: list[int], val_classes: list[int]) -> Known:
    return Known(*map(torch.tensor, (train_classes, val_nodes, val_classes)))


def test_prior_adds_the_logarithm_of_the_shares_with_half_a_count():
    """Training 2 1 0 of 3, validation 1 0 3 of 4: shares 5/9 3/9 1/9 and 3/11 1/11 7/11."""
    logits = torch.randn(5, 3, dtype=torch.float64)
    classes = known([0, 0, 1], [1, 2, 3, 4], [0, 2, 2, 2])
    found, facts = Prior(tau=0.5).corrected(logits, classes)
    p, q = np.array([2.5, 1.5, 0.5]) / 4.5, np.array([1.5, 0.5, 3.5]) / 5.5
    assert np.allclose(found.numpy(), logits.numpy() + 0.5 * np.log(q / p))
    assert facts == {"tau": 0.5}


def test_prior_takes_the_strength_that_is_best_on_validation():
    """Three nodes turn to class 1 at 0.1, 0.3 and 0.9; the last one must not."""
    classes = known([0, 0, 0, 1], [0, 1, 2], [1, 1, 0])
    p, q = np.array([3.5, 1.5]) / 5, np.array([1.5, 2.5]) / 4
    gap = math.log(q[1] / p[1]) - math.log(q[0] / p[0])
    logits = torch.tensor([[0.1 * gap, 0], [0.3 * gap, 0], [0.9 * gap, 0]])
    found, facts = Prior().corrected(logits, classes)
    assert facts == {"tau": 0.5}
    assert accuracy(found, classes.val_classes) == 1
    for tau in set(TAUS) - {0.5}:
        assert accuracy(Prior(tau=tau).corrected(logits, classes).logits, classes.val_classes) < 1


def test_the_smallest_of_equally_good_strengths_is_taken():
    """A clear answer is right whatever the strength; the other turns at 0.05 already."""
    classes = known([0, 0, 0, 1], [0, 1], [1, 1])
    logits = torch.tensor([[0.0, 50.0], [0.0, 0.0]])  # of equal logits the first is answered
    assert Prior().corrected(logits, classes).facts == {"tau": 0.05}
    assert Prior().corrected(logits[[0, 0]], classes).facts == {"tau": 0.0}


def test_seen_answers_no_class_that_validation_does_not_have():
    logits = torch.tensor([[1.0, 3.0, 2.0], [5.0, 9.0, 1.0]])
    found, facts = Seen().corrected(logits, known([0, 1, 2], [0, 1], [2, 0]))
    assert found.argmax(1).tolist() == [2, 0]
    assert torch.equal(found[:, [0, 2]], logits[:, [0, 2]]) and facts == {"unseen_classes": 1.0}


def fits(method: str, **params):
    graph = load("csbm-heterophily")
    seeds = seed_pair(graph.name, BALANCED, 0, 0, "final")
    spec = Method.parse(method).spec(graph, params, BALANCED, seeds, max_epochs=30)
    nodes = search_nodes(graph, BALANCED, spec.split_seed)
    # Validation without class 0, so that there is something to correct.
    nodes = replace(nodes, val=nodes.val[graph.labels[nodes.val] != 0])
    return graph, nodes, spec, train(spec, TensorGraph.of(graph), nodes)


@pytest.mark.parametrize("name", ["prior", "seen"])
def test_a_control_is_the_plain_training_with_other_answers(name):
    graph, nodes, _, plain = fits("gcn", dropout=0.5)
    _, _, spec, found = fits(f"gcn+{name}", dropout=0.5)
    for mine, theirs in zip(found.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert found.record.best_epoch == plain.record.best_epoch
    assert found.record.penalty_active is found.record.penalty_zero is None
    labels, val = torch.tensor(graph.labels), torch.tensor(nodes.val)
    knows = Known(labels[nodes.train], val, labels[val])
    expected, facts = (
        Method.parse(f"gcn+{name}").build_regularizer({}).corrected(plain.logits, knows)
    )
    assert torch.equal(found.logits, expected) and found.record.facts == facts
    assert found.record.val_score == accuracy(expected[val], labels[val])
    assert found.record.val_score >= plain.record.val_score
    loss = torch.nn.functional.cross_entropy(expected[val], labels[val])
    assert found.record.val_loss == pytest.approx(loss.item(), rel=1e-5)
    tested = scores_on_test(found, spec, graph)
    assert 0 <= tested.score <= 1
    if name == "seen":
        assert facts == {"unseen_classes": 1.0} and not (found.logits.argmax(1) == 0).any()


@pytest.mark.parametrize("name", ["prior", "seen"])
def test_where_classes_are_not_answered_a_control_is_refused(name):
    method = Method.parse(f"gcn+{name}")
    check_objective("accuracy", BALANCED, "loss", method)
    with pytest.raises(ParameterError, match=f"gcn.{name}: .* roc_auc goes by the order"):
        check_objective("roc_auc", BALANCED, "loss", method)
    with pytest.raises(ParameterError, match=f"gcn.{name}: .* a filter has none"):
        check_objective("mse", "whole-graph", "loss", method)


def test_wrong_values_are_refused():
    with pytest.raises(ParameterError, match="tau"):
        Prior(tau=-1)
    with pytest.raises(UnknownName, match="classes"):
        Seen(classes="some")
