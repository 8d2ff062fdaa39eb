"""Dropout that draws what the stored trainings drew."""

import torch
from torch import Tensor


def dropped(x: Tensor, rate: float) -> Tensor:
    r"""``x`` in training: each element dropped at ``rate``, the rest scaled up.

    An element is dropped if its 16 random bits, as a number, are below
    :math:`t = \min(\mathrm{round}(65536\, r),\, 65535)`; others are multiplied by
    :math:`65536 / (65536 - t)`. ``torch.nn.functional.dropout`` does as well, and drops other
    elements than the trainings did that the stored scores come from.
    """
    limit = min(round(rate * 65536), 65535)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)  # from -32768 on
    return x * (bits >= limit - 32768) * (65536 / (65536 - limit))


def dropped_features(x: Tensor, rate: float) -> Tensor:
    """The same for mostly empty rows: bits are drawn for elements that are not zero alone."""
    present = x != 0
    return torch.zeros_like(x).masked_scatter(present, dropped(x[present], rate))
