"""The regularizers ``clar`` and, with beta 0, ``nl``."""

import torch
from torch import Tensor

from clar_tune.script.parts.complement import Complement
from clar_tune.script.parts.plain import Plain
from clar_tune.script.parts.undirected import undirected_pairs


class Penalty(Plain):
    r"""Smooth along edges, sharp across a random part of the complement graph.

    .. math:: \beta\, \mathrm{clamp}(r(L_{com}), 0, c) + \alpha\, \mathrm{clamp}(r(L_{ori}), 0, c)

    :math:`L_{ori}` is that of the graph, :math:`L_{com}` that of absent pairs, fresh every epoch.
    """

    def __init__(
        self,
        edge_index: Tensor,
        num_nodes: int,
        alpha: float,
        clamp: float | None,
        reduction: str,
        beta: float = 0.0,
        samples: int = 1,
        sampling: str = "node",
        scale: float = 1.0,
    ) -> None:
        super().__init__(edge_index, num_nodes)
        self.alpha, self.beta = scale * alpha, scale * beta
        self.clamp, self.reduction = clamp, reduction
        self.pairs = undirected_pairs(edge_index, num_nodes)
        self.complement = Complement(self.pairs, num_nodes, sampling, samples)

    def __call__(self, h: Tensor, draw: torch.Generator) -> Tensor:
        """The penalty of logits ``h`` [N, C]."""
        loss = h.new_zeros(())
        if self.beta:
            apart = energy(h, self.complement.fresh(draw), self.reduction)
            loss = loss + self.beta * apart.clamp(0.0, self.clamp)
        if self.alpha:
            joined = energy(h, self.pairs, self.reduction)
            loss = loss + self.alpha * joined.clamp(0.0, self.clamp)
        return loss


def energy(h: Tensor, pairs: Tensor, reduction: str) -> Tensor:
    r"""How much a signal ``h`` [N, C] changes over M / 2 pairs.

    ``trace``
        :math:`\mathrm{tr}(H^\top L H) = \sum_{\{i,j\}} \lVert h_i - h_j \rVert^2 / \sqrt{d_i d_j}`
    ``node-mean``
        the trace divided by N.
    ``released``
        :math:`M (\tfrac1M \sum_{(i,j)} \tilde A_{ij} \lVert h_i - h_j \rVert)^2`, as the code
        released with the CLAR paper has it.
    """
    if not pairs.shape[1]:
        return h.sum() * 0.0
    degree = torch.bincount(pairs.flatten(), minlength=len(h)).to(h)
    weight = degree.rsqrt()[pairs].prod(dim=0)
    difference = h[pairs[0]] - h[pairs[1]]
    if reduction == "released":
        mean: Tensor = (weight * difference.norm(dim=1)).mean()
        return mean.square() * (2 * pairs.shape[1])
    trace = (weight * difference.square().sum(dim=1)).sum()
    return trace / len(h) if reduction == "node-mean" else trace
