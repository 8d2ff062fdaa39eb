"""Complement Laplacian regularization, and Network Lasso as its half."""

from typing import Any

import torch
from torch import Tensor

from clar_tune.models.adjacency import Adjacency
from clar_tune.models.complement import SAMPLINGS, Complement
from clar_tune.models.host_reads import reads_are_free
from clar_tune.models.regularizers.base import Penalty, Regularizer, checked_clamp, limits_of
from clar_tune.models.regularizers.energy import (
    REDUCTIONS,
    DoubledLaplacian,
    Laplacian,
    energies,
    laplacian_of,
)
from clar_tune.validation import number, one_of, whole

MOST_SAMPLES = 1024

ROUNDING = 1e-12
"""An energy per node below which outputs are equal but for the last digits of float32."""


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
        reduction: r, see :func:`~clar_tune.regularizers.energy.energies`.
        scale: multiplies both weights, so that a sweep can ask for ten times what was found.
    """

    has_penalty = True
    silent = ("scale",)

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        samples: int = 1,
        sampling: str = "node",
        clamp: float | None = 1.0,
        reduction: str = "node-mean",
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        number("scale", scale)
        self.alpha, self.beta = scale * number("alpha", alpha), scale * number("beta", beta)
        self.samples = whole("samples", samples, 1, MOST_SAMPLES)
        self.sampling = one_of("sampling", sampling, SAMPLINGS)
        self.clamp = checked_clamp(clamp)
        self.reduction = one_of("reduction", reduction, REDUCTIONS)
        self._stock: list[Laplacian] = []
        self._stock_of: tuple[Adjacency, torch.Generator, torch.dtype] | None = None

    def penalty(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> Penalty | None:
        """The terms ``com`` and ``ori``, each only if its weight is not zero."""
        names, laplacians, weights = [], [], []
        if self.beta:
            names.append("com")
            laplacians.append(self._fresh_complement(graph, h.dtype, draw))
            weights.append(self.beta)
        if self.alpha:
            names.append("ori")
            laplacians.append(graph.derived(laplacian_of, h.dtype))
            weights.append(self.alpha)
        if not names:
            return None
        loss, values = energies(h, laplacians, weights, self.reduction, self.clamp)
        zero = ROUNDING if self.reduction == "node-mean" else ROUNDING * len(h)
        return Penalty(loss, tuple(names), values, limits_of(self.clamp), zero)

    def _fresh_complement(
        self, graph: Adjacency, dtype: torch.dtype, draw: torch.Generator | None
    ) -> Laplacian:
        """The next of some complements that were drawn together.

        Drawing for one epoch of a small graph costs little but the calls themselves, so a
        training draws for several at once: seeding ``draw`` anew acts after those. Torch's
        global generator is drawn from once per call, so that seeding it acts at once.
        """
        complement = graph.derived(Complement)
        if draw is None:
            return self._drawn(complement, dtype)
        if self._stock_of != (graph, draw, dtype) or not self._stock:
            copies = complement.worthwhile_copies(self.sampling, self.samples)
            self._stock = self._drawn(complement, dtype, draw, copies).blocks(copies)
            self._stock_of = (graph, draw, dtype)
        return self._stock.pop()

    def _drawn(
        self,
        complement: Complement,
        dtype: torch.dtype,
        draw: torch.Generator | None = None,
        copies: int = 1,
    ) -> Laplacian:
        asked = (self.sampling, self.samples, draw, copies)
        if reads_are_free(complement.graph.device):
            return Laplacian.of(complement.sample(*asked), dtype)
        return DoubledLaplacian.of_first(*complement.doubled_sample(*asked), dtype)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_stock": [], "_stock_of": None}


class NL(CLAR):
    r"""Network Lasso: CLAR with :math:`\beta = 0`.

    Args:
        alpha: weight of the graph's term.
        clamp: c, above which the term has no gradient; ``None`` for no limit.
        reduction: r, see :func:`~clar_tune.regularizers.energy.energies`.
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        clamp: float | None = 1.0,
        reduction: str = "node-mean",
    ) -> None:
        super().__init__(alpha=alpha, beta=0.0, clamp=clamp, reduction=reduction)
