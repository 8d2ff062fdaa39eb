"""Scores on test nodes: the only place where they are looked at."""

from dataclasses import dataclass

import numpy as np
import torch

from clar_tune.graphs import Graph, Nodes, search_nodes, test_nodes, threads
from clar_tune.records import TrainSpec
from clar_tune.training.engines import Fit
from clar_tune.training.floors import (
    AUC_FLOOR,
    balanced_accuracy,
    balanced_floor,
    class_floor,
    label_shift,
    mean_floor,
)
from clar_tune.training.scores import score


@dataclass(frozen=True, slots=True)
class TestScores:
    """What a final says about its test nodes; ``FinalRow`` tells what each is."""

    score: float
    balanced: float | None
    floor: float
    correct: bytes | None
    tested: bytes | None
    shift: float | None
    balanced_floor: float | None


def test_score(fit: Fit, spec: TrainSpec, graph: Graph) -> float:
    """The test score of a finished training, at the epoch that validation selected."""
    nodes = test_nodes(graph, spec.protocol, spec.split_seed, spec.outer_test)
    truth = torch.tensor(graph.truth, device=fit.logits.device)
    chosen = torch.tensor(nodes, device=fit.logits.device)
    with threads(spec.threads):  # which decide the last digits of a sum
        return score(graph.metric, fit.logits, truth, chosen)


def test_scores(fit: Fit, spec: TrainSpec, graph: Graph) -> TestScores:
    """The test score, what a constant answer scores in its place, and what else a final keeps."""
    split = spec.protocol, spec.split_seed, spec.outer_test
    nodes, test = search_nodes(graph, *split), test_nodes(graph, *split)
    reached = test_score(fit, spec, graph)
    if graph.targets is not None:
        floor = mean_floor(graph.targets, nodes, test)
        return TestScores(reached, None, floor, None, None, None, None)
    labels = graph.labels
    correct = fit.logits.argmax(1).cpu().numpy()[test] == labels[test]
    by_node = graph.metric == "accuracy"
    return TestScores(
        score=reached,
        balanced=balanced_accuracy(correct, labels[test]),
        floor=class_floor(labels, nodes, test) if by_node else AUC_FLOOR,
        correct=np.packbits(correct).tobytes() if by_node else None,
        tested=_marked(test, graph.num_nodes) if by_node else None,
        shift=label_shift(labels[nodes.train], labels[test]),
        balanced_floor=balanced_floor(labels[test]),
    )


def _marked(nodes: Nodes, count: int) -> bytes:
    """Some of all nodes as packed bits."""
    mask = np.zeros(count, dtype=bool)
    mask[nodes] = True
    return np.packbits(mask).tobytes()


def test_count(spec: TrainSpec, graph: Graph) -> int:
    """How many nodes a training is tested on."""
    return len(test_nodes(graph, spec.protocol, spec.split_seed, spec.outer_test))
