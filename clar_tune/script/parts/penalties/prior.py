"""The control ``prior``."""

import torch
from torch import Tensor

from clar_tune.script.parts.plain import Plain

TAUS = (0.0, 0.05, 0.1, 0.25, 0.5, 1.0)


class Penalty(Plain):
    r"""No penalty: logits corrected for the shares of classes once a training is over.

    .. math:: z'_{ic} = z_{ic} + \tau \log \frac{q_c}{p_c}, \qquad
              p_c = \frac{n^{train}_c + 1/2}{n^{train} + C/2}, \quad
              q_c = \frac{n^{val}_c + 1/2}{n^{val} + C/2}

    Without ``tau`` validation accuracy chooses the smallest of the best.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, tau: float | None = None) -> None:
        super().__init__(edge_index, num_nodes)
        self.taus = TAUS if tau is None else (tau,)

    def corrected(self, logits: Tensor, labels: Tensor, train: Tensor, val: Tensor) -> Tensor:
        """Logits with the shares' difference added to each class."""
        classes = logits.shape[1]
        p, q = shares(labels[train], classes), shares(labels[val], classes)
        tried = [logits + tau * (q / p).log().to(logits) for tau in self.taus]
        right = [int((answer[val].argmax(1) == labels[val]).sum()) for answer in tried]
        return tried[right.index(max(right))]


def shares(labels: Tensor, classes: int) -> Tensor:
    """[C] The share of each class, with half a count added to each."""
    counts = torch.bincount(labels, minlength=classes) + 0.5
    return counts.double() / (len(labels) + classes / 2)
