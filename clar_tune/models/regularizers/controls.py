"""Controls on splits whose classes shift: no penalty, but answers corrected afterwards."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from clar_tune.models.regularizers.base import Corrected, Known, Regularizer
from clar_tune.validation import not_negative, one_of

TAUS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Strengths of ``prior`` that validation chooses from. With small logits 1 would swamp them."""

CLASSES = ("validation", "all")


class Prior(Regularizer):
    r"""Logits corrected for the classes' shares, which differ between training and validation.

    .. math:: z'_{ic} = z_{ic} + \tau \log \frac{q_c}{p_c}, \qquad
              p_c = \frac{n^{train}_c + 1/2}{n^{train} + C/2}, \quad
              q_c = \frac{n^{val}_c + 1/2}{n^{val} + C/2}

    Args:
        tau: strength; ``None`` for that of :data:`TAUS` with the highest validation accuracy
            (ties: lower validation loss, then the smaller one). The fact ``tau`` tells which.
    """

    needs_classes = True
    corrects = True

    def __init__(self, *, tau: float | None = None) -> None:
        super().__init__()
        self.tau = None if tau is None else not_negative("tau", tau)

    def corrected(self, logits: Tensor, known: Known) -> Corrected:
        """Logits with the shares' difference added to each class."""
        classes = logits.shape[1]
        shift = (_shares(known.val_classes, classes) / _shares(known.train_classes, classes)).log()
        taus = TAUS if self.tau is None else (self.tau,)
        found = [_Try(tau, logits + tau * shift.to(logits)) for tau in taus]
        best = max(found, key=lambda one: one.rank(known))
        return Corrected(best.logits, {"tau": best.tau})


class _Try(NamedTuple):
    """Logits corrected by one strength."""

    tau: float
    logits: Tensor

    def rank(self, known: Known) -> tuple[int, float, float]:
        """The more nodes are right, the lower the loss, the smaller tau, the higher."""
        own = self.logits[known.val_nodes]
        right = int((own.argmax(1) == known.val_classes).sum())
        return right, -cross_entropy(own, known.val_classes).item(), -self.tau


class Seen(Regularizer):
    """Answers only classes that occur among the validation nodes.

    Args:
        classes: ``validation``, or ``all`` to leave the answers as they are.
    """

    needs_classes = True
    corrects = True

    def __init__(self, *, classes: str = "validation") -> None:
        super().__init__()
        self.classes = one_of("classes", classes, CLASSES)

    def corrected(self, logits: Tensor, known: Known) -> Corrected:
        """Logits of minus infinity for the classes that validation does not have."""
        if self.classes == "all":
            return Corrected(logits, {"unseen_classes": 0.0})
        unseen = torch.bincount(known.val_classes, minlength=logits.shape[1]) == 0
        facts = {"unseen_classes": float(unseen.sum())}
        return Corrected(logits.masked_fill(unseen, -torch.inf), facts)


def _shares(labels: Tensor, classes: int) -> Tensor:
    """The share of each class among labels, with half a count added to each, [C]."""
    counts = torch.bincount(labels, minlength=classes) + 0.5
    return counts.double() / (len(labels) + classes / 2)
