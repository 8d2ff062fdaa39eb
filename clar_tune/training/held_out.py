"""Scores on test nodes: the only place where they are looked at."""

import torch

from clar_tune.graphs import Graph, test_nodes
from clar_tune.records import TrainSpec
from clar_tune.training.loop import Fit
from clar_tune.training.scores import score


def test_score(fit: Fit, spec: TrainSpec, graph: Graph) -> float:
    """The test score of a finished training, at the epoch that validation selected."""
    nodes = test_nodes(graph, spec.protocol, spec.split_seed, spec.outer_test)
    truth = torch.tensor(graph.truth, device=fit.logits.device)
    chosen = torch.tensor(nodes, device=fit.logits.device)
    return score(graph.metric, fit.logits, truth, chosen)


def test_count(spec: TrainSpec, graph: Graph) -> int:
    """How many nodes a training is tested on."""
    return len(test_nodes(graph, spec.protocol, spec.split_seed, spec.outer_test))
