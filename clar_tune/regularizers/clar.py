"""Complement Laplacian regularization, and Network Lasso as its half."""

import torch
from torch import Tensor

from clar_tune.adjacency import Adjacency
from clar_tune.checks import number, one_of, whole
from clar_tune.complement import SAMPLINGS, Complement
from clar_tune.regularizers.base import Regularizer, Term, checked_clamp
from clar_tune.regularizers.energy import REDUCTIONS, Laplacian, energy_term, laplacian_of


class CLAR(Regularizer):
    r"""Smooth along edges, sharp across a random part of the complement graph.

    .. math:: \beta\, \mathrm{clamp}(r(L_{com}), 0, c) + \alpha\, \mathrm{clamp}(r(L_{ori}), 0, c),
              \qquad L_\cdot = \mathrm{tr}(H^\top L(\tilde A_\cdot) H)

    :math:`A_{ori}` is the graph, :math:`A_{com}` a set of absent pairs drawn afresh on every
    call (Algorithms 1 and 2 of the CLAR paper; Algorithm 2 prints :math:`\tilde A` where the
    equations have :math:`L(\tilde A)`: the equations stand).

    Args:
        alpha: weight of the graph's term; may be zero or negative.
        beta: weight of the complement's term; may be zero or negative.
        samples: S, draws per node or per end of an edge.
        sampling: ``node``, ``edge``, or ``any`` (the control: from all pairs, edges included).
        clamp: c, above which a term has no gradient; ``None`` for no limit.
        reduction: r, see :func:`~clar_tune.regularizers.energy.energy_term`.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        samples: int = 1,
        sampling: str = "node",
        clamp: float | None = 1.0,
        reduction: str = "node-mean",
    ) -> None:
        super().__init__()
        self.alpha, self.beta = number("alpha", alpha), number("beta", beta)
        self.samples = whole("samples", samples, 1)
        self.sampling = one_of("sampling", sampling, SAMPLINGS)
        self.clamp = checked_clamp(clamp)
        self.reduction = one_of("reduction", reduction, REDUCTIONS)

    def terms(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> dict[str, Term]:
        """The terms ``com`` and ``ori``, each only if its weight is not zero."""
        terms = {}
        if self.beta:
            absent = graph.derived(Complement).sample(self.sampling, self.samples, draw)
            terms["com"] = self._term(h, Laplacian(absent, h.dtype), self.beta)
        if self.alpha:
            terms["ori"] = self._term(h, graph.derived(laplacian_of, h.dtype), self.alpha)
        return terms

    def _term(self, h: Tensor, laplacian: Laplacian, weight: float) -> Term:
        return energy_term(h, laplacian, self.reduction, weight, self.clamp)


class NL(CLAR):
    r"""Network Lasso: CLAR with :math:`\beta = 0`.

    Args:
        alpha: weight of the graph's term.
        clamp: c, above which the term has no gradient; ``None`` for no limit.
        reduction: r, see :func:`~clar_tune.regularizers.energy.energy_term`.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        clamp: float | None = 1.0,
        reduction: str = "node-mean",
    ) -> None:
        super().__init__(alpha=alpha, beta=0.0, clamp=clamp, reduction=reduction)
