"""The control ``seen``."""

import torch
from torch import Tensor

from clar_tune.script.parts.plain import Plain


class Penalty(Plain):
    """No penalty: only classes that validation nodes have are answered; with ``all`` any."""

    def __init__(self, edge_index: Tensor, num_nodes: int, classes: str) -> None:
        super().__init__(edge_index, num_nodes)
        self.classes = classes

    def corrected(self, logits: Tensor, labels: Tensor, train: Tensor, val: Tensor) -> Tensor:
        """Logits of minus infinity for the classes that validation does not have."""
        if self.classes == "all":
            return logits
        unseen = torch.bincount(labels[val], minlength=logits.shape[1]) == 0
        return logits.masked_fill(unseen, -torch.inf)
