"""P-reg: keep the logits near their smoothed selves."""

import torch
from torch import Tensor

from clar_tune.models.adjacency import Adjacency, smoothing
from clar_tune.models.regularizers.base import Penalty, Regularizer, one_term
from clar_tune.validation import number, one_of

FORMS = ("squared", "ce")


class PReg(Regularizer):
    r"""P-reg of `Yang, Ma and Cheng (2021) <https://arxiv.org/abs/2009.02027>`_.

    .. math:: \frac{w}{2N} \lVert \hat A Z - Z \rVert_F^2 \quad (\text{form squared}), \qquad
              -\frac{w}{N} \sum_i \mathrm{softmax}(z_i) \cdot \log \mathrm{softmax}((\hat A Z)_i)
              \quad (\text{form ce})

    :math:`\hat A` is the symmetric normalised adjacency with self-loops.

    Args:
        weight: w.
        form: ``squared`` or ``ce``.
    """

    has_penalty = True

    def __init__(self, *, weight: float = 0.1, form: str = "squared") -> None:
        super().__init__()
        self.weight, self.form = number("weight", weight), one_of("form", form, FORMS)

    def penalty(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> Penalty | None:
        """The one term ``preg``, if its weight is not zero."""
        if not self.weight:
            return None
        smoothed = graph.derived(smoothing, h.dtype) @ h
        if self.form == "squared":
            value = (smoothed - h).square().sum() / (2 * len(h))
        else:
            value = -(h.softmax(1) * smoothed.log_softmax(1)).sum() / len(h)
        return one_term("preg", value, self.weight, None)
