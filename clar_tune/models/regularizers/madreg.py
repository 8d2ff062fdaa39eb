"""MADReg: near nodes alike, remote nodes different, by cosine distance."""

from dataclasses import dataclass

import torch
from torch import Tensor

from clar_tune.graphs import Partners, partners_of
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.regularizers.base import (
    UNLIMITED,
    Penalty,
    Regularizer,
    checked_clamp,
    one_term,
)
from clar_tune.models.sparse import Csr, Pattern
from clar_tune.validation import number, whole


class MadReg(Regularizer):
    r"""MADReg of `Chen et al. (2020) <https://arxiv.org/abs/1909.03211>`_.

    .. math:: -w\, \mathrm{clamp}(\mathrm{MAD}_{remote} - \mathrm{MAD}_{near}, 0, c)

    Without c there is no limit on either side, so that a negative gap keeps its gradient.

    MAD is the mean, over nodes that have a partner, of the mean of :math:`1 - \cos(h_i, h_j)`
    over the partners j of i. Partners are near at a shortest-path length of 1 to ``near``, and
    remote from ``remote`` on, unreachable ones included.

    Args:
        weight: w.
        clamp: c, above which there is no gradient, nor below 0; ``None`` for no limits.
        near: largest order of near partners.
        remote: smallest order of remote partners.
    """

    has_penalty = True

    def __init__(
        self,
        *,
        weight: float = 0.1,
        clamp: float | None = 1.0,
        near: int = 3,
        remote: int = 8,
    ) -> None:
        super().__init__()
        self.weight, self.clamp = number("weight", weight), checked_clamp(clamp)
        self.near = whole("near", near, 1)
        self.remote = whole("remote", remote, near + 1)

    def penalty(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> Penalty | None:
        """The one term ``madgap``, if its weight is not zero; it enters the loss negatively."""
        if not self.weight:
            return None
        near, remote = graph.derived(_partners, self.near, self.remote, h.dtype)
        unit = torch.nn.functional.normalize(h, dim=1)
        gap = _mean_distance(unit, remote) - _mean_distance(unit, near)
        if self.clamp is None:
            return Penalty(-self.weight * gap, ("madgap",), gap.detach().reshape(1), UNLIMITED)
        return one_term("madgap", gap, -self.weight, self.clamp)

    def facts(self, graph: Adjacency) -> dict[str, float]:
        """Which share of all ordered node pairs is near, and which remote."""
        near, remote = graph.derived(_partners, self.near, self.remote, torch.float32)
        return {"near_share": near.share, "remote_share": remote.share}


@dataclass(frozen=True, eq=False)
class _Partners:
    """Rows that average over a node's partners."""

    mean: Csr  # [N, N]
    having: Tensor  # the nodes that have a partner
    share: float  # of all ordered pairs


def _mean_distance(unit: Tensor, partners: _Partners) -> Tensor:
    r"""MAD of unit vectors: :math:`\cos(h_i, h_j)` averaged over j is one product per node."""
    if not partners.share:
        return unit.sum() * 0.0
    distance = 1 - (unit * (partners.mean @ unit)).sum(1)
    return distance.index_select(0, partners.having).mean()


def _partners(
    graph: Adjacency, near: int, remote: int, dtype: torch.dtype
) -> tuple[_Partners, _Partners]:
    pattern = graph.pattern
    indptr, indices = pattern.indptr.cpu().numpy(), pattern.indices.cpu().numpy()
    found = partners_of(indptr, indices, near, remote)
    return _on(found[0], dtype, graph.device), _on(found[1], dtype, graph.device)


def _on(found: Partners, dtype: torch.dtype, device: torch.device) -> _Partners:
    indptr, columns, weights, having = (
        torch.from_numpy(array).to(device)
        for array in (found.starts, found.columns, found.weights, found.having)
    )
    mean = Csr(Pattern(indptr, columns, len(indptr) - 1), weights.to(dtype))
    return _Partners(mean, having, found.share)
