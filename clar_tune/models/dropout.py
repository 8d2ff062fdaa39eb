r"""Dropout, on CPUs by 16 random bits for each element.

torch draws a whole number of 32 bits and a Bernoulli variable for each element, which takes most
of an epoch's time on a CPU. 64 bits decide four elements here, a comparison makes the mask of
them: an element is dropped if its 16 bits, as a number, are below

.. math:: t = \min(\mathrm{round}(65536\, r),\, 65535)

for the rate r, and the others are multiplied by :math:`65536 / (65536 - t)`, so that means stay.
The native engine drops by the same rule (``engine/randomness``), with bits of another source.
"""

from typing import Any

import torch
from torch import Tensor

HALVES = 65536
"""So many numbers of 16 bits there are."""


def dropped(x: Tensor, rate: float) -> Tensor:
    """``x`` in training: each element dropped at ``rate``, the rest scaled up.

    Bits come from torch's global generator. On a GPU this is torch's own dropout.
    """
    if x.device.type != "cpu":
        return torch.nn.functional.dropout(x, rate)
    result: Tensor = _Dropout.apply(x, rate)  # type: ignore[no-untyped-call]
    return result


def threshold(rate: float) -> int:
    """Elements with 16 bits below this number are dropped: ``rate`` to a part in 65,536."""
    return min(round(rate * HALVES), HALVES - 1)


def scale_of(rate: float) -> float:
    """What kept elements are multiplied by, so that means stay: 1 / (1 - rate), as dropped."""
    return HALVES / (HALVES - threshold(rate))


class _Dropout(torch.autograd.Function):
    r""":math:`y = s\, m\, x` with :math:`\partial x = s\, m\, \partial y`, m the mask of bits."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        keep, ctx.scale = _mask(x.shape, rate), scale_of(rate)
        ctx.save_for_backward(keep)
        return _scaled(x, keep, ctx.scale)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (keep,) = ctx.saved_tensors
        return _scaled(grad, keep, ctx.scale), None


def _mask(shape: torch.Size, rate: float) -> Tensor:
    """Which elements are kept."""
    count = shape.numel()
    words = torch.empty(-(-count // 4), dtype=torch.int64).random_(-(2**63), None)
    halves = words.view(torch.int16)[:count]  # from -2^15 on: torch orders no unsigned ones
    return (halves >= threshold(rate) - HALVES // 2).view(shape)


def _scaled(x: Tensor, keep: Tensor, scale: float) -> Tensor:
    """What is kept of ``x``; a product with a mask of bits would be several times slower."""
    return keep.to(x.dtype).mul_(scale).mul_(x)
