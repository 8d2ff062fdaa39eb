"""What a constant answer scores, and how far class shares move from training to test nodes."""

import numpy as np
from numpy.typing import NDArray

from clar_tune.graphs import Nodes, SearchNodes

AUC_FLOOR = 0.5
"""Equal scores for all nodes: every pair is a tie."""


def constant_class(labels: Nodes, nodes: SearchNodes) -> int:
    """The most frequent class of the validation nodes; ties: of the training nodes, lower id."""
    classes = int(labels.max()) + 1
    val, train = (np.bincount(labels[own], minlength=classes) for own in (nodes.val, nodes.train))
    return max(range(classes), key=lambda c: (val[c], train[c], -c))


def class_floor(labels: Nodes, nodes: SearchNodes, test: Nodes) -> float:
    """The accuracy of :func:`constant_class` on the test nodes."""
    return float((labels[test] == constant_class(labels, nodes)).mean())


def mean_floor(targets: NDArray[np.floating], nodes: SearchNodes, test: Nodes) -> float:
    """The mean squared error, on the test nodes, of the mean of the training targets [N, T]."""
    wide = targets.astype(np.float64)
    return float(np.square(wide[test] - wide[nodes.train].mean(axis=0)).mean())


def balanced_accuracy(correct: NDArray[np.bool_], labels: Nodes) -> float:
    """The mean recall: of each class among ``labels`` the share of its nodes that are correct."""
    sizes = np.bincount(labels)
    hits = np.bincount(labels, correct)
    present = sizes > 0
    return float((hits[present] / sizes[present]).mean())


def balanced_floor(labels: Nodes) -> float:
    """The balanced accuracy of a constant answer: 1 / classes among ``labels``."""
    return 1 / len(np.unique(labels))


def label_shift(train: Nodes, test: Nodes) -> float:
    r"""Total variation of class shares: :math:`\tfrac12 \sum_c |p_c - q_c|` of labels."""
    classes = int(max(train.max(), test.max())) + 1
    p, q = (np.bincount(labels, minlength=classes) / len(labels) for labels in (train, test))
    return float(np.abs(p - q).sum() / 2)
