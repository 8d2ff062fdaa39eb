"""Controls on splits whose classes shift: no penalty, but answers corrected afterwards."""

import torch
from torch import Tensor

from clar_tune.models.regularizers.base import Corrected, Known, Regularizer
from clar_tune.validation import not_negative, one_of

TAUS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Strengths of ``prior`` that validation accuracy chooses from, the smallest first.

Where logits are small 1 swamps them, and the loss would choose it too often."""

CLASSES = ("validation", "all")


class Prior(Regularizer):
    r"""Logits corrected for the classes' shares, which differ between training and validation.

    .. math:: z'_{ic} = z_{ic} + \tau \log \frac{q_c}{p_c}, \qquad
              p_c = \frac{n^{train}_c + 1/2}{n^{train} + C/2}, \quad
              q_c = \frac{n^{val}_c + 1/2}{n^{val} + C/2}

    Args:
        tau: strength; ``None`` for that of :data:`TAUS` with the highest validation accuracy
            (ties: the smallest). The fact ``tau`` tells which.
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
        tried = {tau: logits + tau * shift.to(logits) for tau in taus}
        best = max(tried, key=lambda tau: _right(tried[tau], known))  # the first of equals
        return Corrected(tried[best], {"tau": best})


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


def _right(logits: Tensor, known: Known) -> int:
    """How many validation nodes are answered rightly."""
    return int((logits[known.val_nodes].argmax(1) == known.val_classes).sum())


def _shares(labels: Tensor, classes: int) -> Tensor:
    """The share of each class among labels, with half a count added to each, [C]."""
    counts = torch.bincount(labels, minlength=classes) + 0.5
    return counts.double() / (len(labels) + classes / 2)
