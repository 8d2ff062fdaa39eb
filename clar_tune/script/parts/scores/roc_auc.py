"""The metric ``roc_auc``."""

import torch
from torch import Tensor


def score(logits: Tensor, labels: Tensor) -> float:
    """Chance that a node of class 1 gets a higher score than one of class 0, ties by half."""
    margins = (logits[:, 1] - logits[:, 0]).double()
    _, place, ties = torch.unique(margins, return_inverse=True, return_counts=True)
    ranks = (torch.cumsum(ties, 0) - (ties - 1) / 2)[place]
    ones = labels == 1
    positive, negative = int(ones.sum()), int((~ones).sum())
    return float((ranks[ones].sum() - positive * (positive + 1) / 2) / (positive * negative))
