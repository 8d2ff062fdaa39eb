"""Counts what makes a program wait for a GPU: numbers that Python, or the size of a result, needs.

Seen on a CPU too, where nothing is waited for. What torch does inside one of its own calls is
not seen; operations that are known to read their sizes back are named.
"""

from collections import Counter
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

READ = {
    *("item", "tolist", "numpy", "cpu", "__bool__", "__float__", "__int__", "__index__"),
    *("__array__", "__contains__", "equal", "allclose", "is_nonzero", "argwhere"),
}
"""Numbers that Python asks for."""

SIZED = {"nonzero", "unique", "_unique2", "unique_consecutive", "masked_select", "bincount"}
"""Operations whose result is as large as the numbers say."""

SENT = {"tensor", "as_tensor", "new_tensor", "from_numpy"}
"""Numbers that go the other way, for which a GPU's queue is waited for as well."""


class HostReads(TorchFunctionMode):
    """Counts reads by their names for as long as it is entered."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", str(func))
        if name in READ | SIZED | SENT or _sized_by_its_arguments(name, args, kwargs):
            self.counts[name] += 1
        return func(*args, **kwargs)


def _sized_by_its_arguments(name: str, args: Any, kwargs: Any) -> bool:
    if name in ("__getitem__", "__setitem__"):
        places = args[1] if isinstance(args[1], tuple) else (args[1],)
        return any(isinstance(p, Tensor) and p.dtype == torch.bool for p in places)
    if name == "repeat_interleave":
        given = len(args) > 1 or "repeats" in kwargs
        return kwargs.get("output_size") is None and (not given or isinstance(args[-1], Tensor))
    if name == "to":
        return any(str(target).startswith("cpu") for target in (*args[1:], *kwargs.values()))
    return False
