"""Check (e): is a device's memory back after trainings?"""

import gc
from collections.abc import Callable

import torch
from torch import Tensor

from clar_tune.device_check.findings import Finding
from clar_tune.graphs import load, search_nodes
from clar_tune.models import Method, TensorGraph
from clar_tune.training import release_memory, train

TRIALS = 20
SLACK = 2**20
"""Bytes that libraries may keep for good after the first trainings."""


def check_leaks(
    device: torch.device, trials: int = TRIALS, work: Callable[[torch.device], None] | None = None
) -> Finding:
    """Train again and again in one process; what is held in the end was held after two."""
    once = work or short_training
    for _ in range(2):
        once(device)
    before = held(device)
    for _ in range(trials):
        once(device)
    kept = held(device) - before
    return Finding(
        check="memory comes back",
        ok=kept <= SLACK,
        found=f"after {trials} trainings {max(kept, 0) / 2**20:.1f} MiB more are held than before",
        values={"trials": trials, "bytes": kept},
    )


def held(device: torch.device) -> int:
    """Bytes of tensors that this process holds on a device."""
    release_memory()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return torch.cuda.memory_allocated(device)
    storages = {}
    for each in gc.get_objects():
        if issubclass(type(each), Tensor) and each.layout == torch.strided:
            storage = each.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())


def short_training(device: torch.device) -> None:
    """gcn+clar for a few epochs, on a copy of the graph of its own."""
    graph, protocol = load("csbm-heterophily"), "balanced-60-20-20"
    rules = {"max_epochs": 5, "device": device.type}
    spec = Method("gcn", "clar").spec(graph, {"dropout": 0.5}, protocol, (0, 1), **rules)
    train(spec, TensorGraph.of(graph, device), search_nodes(graph, protocol, 0))
