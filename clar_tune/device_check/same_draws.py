"""Randomness that is the same on every device, to compare trainings that draw."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

DRAWS: tuple[Callable[..., Any], ...] = (torch.rand, torch.randint, torch.multinomial)


class SameDraws(TorchFunctionMode):
    """Draws by a generator of a CPU, and sends what came out to the device that wants it."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._draw = torch.Generator().manual_seed(seed)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func not in DRAWS or kwargs.get("generator") is None:
            return func(*args, **kwargs)
        given = [arg.cpu() if isinstance(arg, Tensor) else arg for arg in args]
        device = kwargs.pop("device", None) or _device_of(args)
        return func(*given, **{**kwargs, "generator": self._draw}).to(device)


def _device_of(args: Any) -> torch.device:
    return next((arg.device for arg in args if isinstance(arg, Tensor)), torch.device("cpu"))
