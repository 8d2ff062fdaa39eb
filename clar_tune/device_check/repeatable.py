"""Check (c): the same training gives the same bits, or the operation to blame is named."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from clar_tune.device_check.cases import Case
from clar_tune.device_check.findings import Finding
from clar_tune.graphs import Graph, load, search_nodes
from clar_tune.models import TensorGraph, device_forms
from clar_tune.training import train

GRAPH, PROTOCOL = "csbm-homophily", "balanced-60-20-20"
UNSAID = "does not have a deterministic implementation"
"""What torch says of an operation that may give other bits; its name stands before."""

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def check_repeatable(cases: Sequence[Case], device: torch.device, epochs: int = 10) -> Finding:
    """Train every case twice, with dropout."""
    graph, wrong, warned = load(GRAPH), [], set[str]()
    for case in cases:
        with warnings.catch_warnings(record=True) as said, device_forms():
            warnings.simplefilter("always")
            first, second = (_trained(case, graph, device, epochs) for _ in range(2))
        warned |= {str(w.message).partition(" ")[0] for w in said if UNSAID in str(w.message)}
        if not same_bits(first, second):
            to_blame = first_difference(partial(_trained, case, graph, device, 2))
            wrong.append(f"{case}: other bits the second time, first by {to_blame}")
    alerts = ", ".join(sorted(warned))
    found = f"{len(cases)} methods trained twice for {epochs} epochs: equal bits"
    if alerts:
        found += f", though torch promises none for {alerts}"
    return Finding(
        check="repeatable",
        ok=not wrong,
        found="; ".join(wrong) or found,
        values={"cases": len(cases), "wrong": wrong, "not_promised": sorted(warned)},
    )


def same_bits(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors hold the same bits; a number that is none equals itself."""
    return first.shape == second.shape and torch.equal(_bits(first), _bits(second))


def first_difference(work: Callable[[], object]) -> str:
    """The first operation whose results differ when the same work is done twice."""
    traces = []
    for _ in range(2):
        with device_forms(), _Trace() as trace:
            work()
        traces.append(trace.results)
    for one, other in zip_longest(*traces):
        if one != other:
            return str((one or other)[0])
    return "an operation that did not differ when it was watched"


class _Trace(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes each operation with a sum over the bits of its results, backward passes included."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.results: list[tuple[str, tuple[int, ...]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(func)
        outputs = result if isinstance(result, tuple | list) else (result,)
        tensors = [each for each in outputs if isinstance(each, Tensor)]
        if "empty" in name:  # what lies there before it is written is nobody's result
            for each in tensors:
                each.zero_()
        self.results.append((name, tuple(map(_bit_sum, tensors))))
        return result


def _bit_sum(tensor: Tensor) -> int:
    values = tensor.values() if tensor.layout == torch.sparse_csr else tensor
    bits = _bits(values).flatten().long()
    place = torch.arange(1, len(bits) + 1, device=bits.device)
    return int((bits * place).sum())  # exchanged numbers are seen too


def _bits(tensor: Tensor) -> Tensor:
    return tensor.detach().contiguous().view(BITS[tensor.element_size()])


def _trained(case: Case, graph: Graph, device: torch.device, epochs: int) -> Tensor:
    params = case.complete(dropout=0.5)
    rules = {"max_epochs": epochs, "device": device.type}
    spec = case.method.spec(graph, params, PROTOCOL, (0, 1), **rules)
    nodes = search_nodes(graph, PROTOCOL, spec.split_seed)
    return train(spec, TensorGraph.of(graph, device), nodes).logits
