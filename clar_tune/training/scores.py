"""Scores of a model's outputs, in natural units."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from clar_tune.errors import TrainingError


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Fraction of nodes whose largest logit is that of their class."""
    return int((logits.argmax(1) == labels).sum()) / len(labels)


def roc_auc(logits: Tensor, labels: Tensor) -> float:
    r"""Chance that a node of class 1 gets a higher score than one of class 0, ties by half.

    .. math:: \frac{\sum_{y_i = 1} \mathrm{rank}_i - n_1 (n_1 + 1) / 2}{n_1 n_0}
    """
    margins = (logits[:, 1] - logits[:, 0]).detach().double()
    scores, truth = torch.stack([margins, labels.double()]).cpu().numpy()  # read at once
    _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    ones = truth == 1
    positive, negative = int(ones.sum()), int((~ones).sum())
    if not positive or not negative:
        raise TrainingError(
            f"ROC AUC needs nodes of both classes, and the {len(ones)} nodes to be scored are "
            f"all of class {int(positive > 0)}. Choose another protocol."
        )
    return float((ranks[ones].sum() - positive * (positive + 1) / 2) / (positive * negative))


def mse(outputs: Tensor, targets: Tensor) -> float:
    r"""Mean squared error over nodes and targets; the lower the better.

    .. math:: \frac{1}{N T} \sum_{i, t} (z_{it} - y_{it})^2
    """
    return float(F.mse_loss(outputs, targets))


METRICS: dict[str, Callable[[Tensor, Tensor], float]] = {
    "accuracy": accuracy,
    "roc_auc": roc_auc,
    "mse": mse,
}


def score(metric: str, outputs: Tensor, truth: Tensor, nodes: Tensor) -> float:
    """The metric's value over some nodes."""
    return METRICS[metric](outputs.index_select(0, nodes), truth.index_select(0, nodes))
