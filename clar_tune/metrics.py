"""Scores of logits, in natural units; for each, higher is better."""

from collections.abc import Callable

from scipy.stats import rankdata
from torch import Tensor


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Fraction of nodes whose largest logit is that of their class."""
    return int((logits.argmax(1) == labels).sum()) / len(labels)


def roc_auc(logits: Tensor, labels: Tensor) -> float:
    r"""Chance that a node of class 1 gets a higher score than one of class 0, ties by half.

    .. math:: \frac{\sum_{y_i = 1} \mathrm{rank}_i - n_1 (n_1 + 1) / 2}{n_1 n_0}
    """
    ranks = rankdata((logits[:, 1] - logits[:, 0]).detach().double().cpu().numpy())
    ones = (labels == 1).cpu().numpy()
    positive, negative = int(ones.sum()), int((~ones).sum())
    if not positive or not negative:
        return float("nan")
    return float((ranks[ones].sum() - positive * (positive + 1) / 2) / (positive * negative))


METRICS: dict[str, Callable[[Tensor, Tensor], float]] = {
    "accuracy": accuracy,
    "roc_auc": roc_auc,
}


def score(metric: str, logits: Tensor, labels: Tensor, nodes: Tensor) -> float:
    """The metric's value over some nodes."""
    return METRICS[metric](logits.index_select(0, nodes), labels.index_select(0, nodes))
