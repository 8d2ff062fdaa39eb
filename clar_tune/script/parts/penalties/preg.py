"""The regularizer ``preg``."""

import torch
from torch import Tensor

from clar_tune.script.parts.plain import Plain
from clar_tune.script.parts.smoothing import smoothed
from clar_tune.script.parts.undirected import undirected_pairs


class Penalty(Plain):
    r"""P-reg: logits near their smoothed selves.

    .. math:: \frac{w}{2N} \lVert \hat A Z - Z \rVert_F^2 \quad (\text{squared}), \qquad
              -\frac{w}{N} \sum_i \mathrm{softmax}(z_i) \cdot \log \mathrm{softmax}((\hat A Z)_i)
              \quad (\text{ce})
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, weight: float, form: str) -> None:
        super().__init__(edge_index, num_nodes)
        once = undirected_pairs(edge_index, num_nodes)
        self.both = torch.cat([once, once.flip(0)], dim=1)
        self.weight, self.form = weight, form

    def __call__(self, h: Tensor, draw: torch.Generator) -> Tensor:
        """The penalty of logits ``h`` [N, C]."""
        wanted = smoothed(h, self.both)
        if self.form == "squared":
            return self.weight * (wanted - h).square().sum() / (2 * len(h))
        return -self.weight * (h.softmax(1) * wanted.log_softmax(1)).sum() / len(h)
