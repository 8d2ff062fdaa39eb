"""What a training minimises and is judged by: classes by cross-entropy, numbers by their error."""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from clar_tune.errors import ParameterError
from clar_tune.graphs import PROTOCOLS, Nodes, SearchNodes
from clar_tune.models import Method, reads_are_free
from clar_tune.training.scores import score

IGNORED = -100
"""The label that torch's losses pass over."""

REGRESSION = "mse"
"""The metric of graphs on which numbers are learned."""


class Truth(Protocol):
    """What answers are judged by: a ``TensorGraph``, or as much of one."""

    @property
    def metric(self) -> str:
        """The name of the score."""

    @property
    def labels(self) -> Tensor:
        """[N] the classes."""

    @property
    def targets(self) -> Tensor | None:
        """[N, T] numbers, in regression."""

    @property
    def device(self) -> torch.device:
        """Where both lie."""


class Objective(Protocol):
    """The losses and the score of one epoch; a model's outputs are read once for all of them."""

    def read(self, outputs: Tensor) -> Tensor:
        """What both losses are taken of, from outputs [N, T] of all nodes."""

    def train_loss(self, read: Tensor) -> Tensor:
        """The loss over training nodes."""

    def val_loss(self, read: Tensor) -> Tensor:
        """The loss over validation nodes."""

    def val_score(self, outputs: Tensor) -> float:
        """The graph's metric over validation nodes."""


def objective_of(graph: Truth, nodes: SearchNodes) -> Objective:
    """Regression on a graph with targets, classification on any other."""
    return Classification(graph, nodes) if graph.targets is None else Regression(graph, nodes)


class Classification:
    """Cross-entropy of the classes."""

    def __init__(self, graph: Truth, nodes: SearchNodes) -> None:
        train, self.val = _on(graph, nodes.train), _on(graph, nodes.val)
        self.metric, self.labels = graph.metric, graph.labels
        self.train_labels = only(train, graph.labels)
        self.val_labels = only(self.val, graph.labels)
        # The loss of an image has no deterministic algorithm on GPUs, that of rows has.
        self.as_image = reads_are_free(graph.device)
        if not self.as_image:
            self.train_labels, self.val_labels = self.train_labels[0], self.val_labels[0]

    def read(self, outputs: Tensor) -> Tensor:
        """Log-probabilities of the classes."""
        return log_probabilities(outputs) if self.as_image else F.log_softmax(outputs, dim=1)

    def train_loss(self, read: Tensor) -> Tensor:
        """Mean over training nodes."""
        return F.nll_loss(read, self.train_labels)

    def val_loss(self, read: Tensor) -> Tensor:
        """Mean over validation nodes."""
        return F.nll_loss(read, self.val_labels)

    def val_score(self, outputs: Tensor) -> float:
        """Accuracy or ROC AUC."""
        return score(self.metric, outputs, self.labels, self.val)


class Regression:
    """Mean squared error of the targets: the loss and the score."""

    def __init__(self, graph: Truth, nodes: SearchNodes) -> None:
        assert graph.targets is not None
        self.train, self.val = _on(graph, nodes.train), _on(graph, nodes.val)
        self.targets = graph.targets
        self.train_targets = self.targets.index_select(0, self.train)
        self.val_targets = self.targets.index_select(0, self.val)

    def read(self, outputs: Tensor) -> Tensor:
        """The outputs themselves."""
        return outputs

    def train_loss(self, read: Tensor) -> Tensor:
        """Mean over training nodes and targets."""
        return F.mse_loss(read.index_select(0, self.train), self.train_targets)

    def val_loss(self, read: Tensor) -> Tensor:
        """Mean over validation nodes and targets."""
        return F.mse_loss(read.index_select(0, self.val), self.val_targets)

    def val_score(self, outputs: Tensor) -> float:
        """The same as a number."""
        return score(REGRESSION, outputs, self.targets, self.val)


def check_objective(metric: str, protocol: str, select: str, method: Method) -> None:
    """Refuse what cannot be learned together: a metric's task, its nodes and its selection."""
    regression, whole = metric == REGRESSION, not PROTOCOLS[protocol].held_out
    if regression and not whole:
        raise ParameterError(
            f"protocol {protocol}: a filter is learned on all nodes, none is held out. "
            "Choose the protocol whole-graph."
        )
    if whole and not regression:
        raise ParameterError(
            f"protocol {protocol}: classes would be tested on the nodes that they were learned "
            "from. Choose a protocol with held-out nodes, or a `filter` to be learned."
        )
    if regression and select != "loss":
        raise ParameterError(f"select {select}: the metric here is {metric}. Choose loss.")
    if regression and method.needs_classes:
        raise ParameterError(
            f"{method.name}: {method.regularizer} goes by predicted classes, and a filter has "
            "none. Choose another regularizer."
        )
    if method.corrects and metric != "accuracy":
        raise ParameterError(
            f"{method.name}: {method.regularizer} favours whole classes, and {metric} goes by the "
            "order of the nodes. Choose another regularizer."
        )


def log_probabilities(logits: Tensor) -> Tensor:
    """The log-softmax of ``logits`` [N, C] as one image of N pixels, [1, C, N].

    torch takes the softmax of many short rows several times slower than of few long columns.
    """
    return F.log_softmax(logits.t().contiguous().unsqueeze(0), dim=1)


def only(nodes: Tensor, labels: Tensor) -> Tensor:
    """The labels of some nodes as an image, [1, N]; the loss passes over all others."""
    chosen = torch.full_like(labels, IGNORED)
    chosen[nodes] = labels[nodes]
    return chosen.unsqueeze(0)


def _on(graph: Truth, nodes: Nodes) -> Tensor:
    return torch.tensor(nodes, device=graph.device)
