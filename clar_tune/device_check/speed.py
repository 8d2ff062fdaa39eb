"""Check (g): epochs per second, and from which size of a graph on a device is faster."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import scipy.sparse as sp
import torch

from clar_tune.device_check.findings import Finding
from clar_tune.graphs import Graph, search_nodes
from clar_tune.models import Method, TensorGraph, device_forms
from clar_tune.training import train

SIZES = (200, 1_000, 5_000, 20_000, 80_000)
DEGREE, WORDS, WORDS_PER_NODE, CLASSES = 8, 500, 20, 5


class _Enough(Exception):
    """Ends a training from inside its report."""


def check_speed(device: torch.device, sizes: Sequence[int], seconds: float) -> Finding:
    """Train gcn+clar with dropout on random graphs, one thread against the device."""
    rates = {}
    for nodes in sorted(sizes):
        graph = random_graph(nodes)
        cpu = epochs_per_second(graph, torch.device("cpu"), seconds)
        with device_forms():
            rates[nodes] = (cpu, epochs_per_second(graph, device, seconds))
    return judge_speed(rates)


def judge_speed(rates: Mapping[int, tuple[float, float]]) -> Finding:
    """Epochs per second of the CPU and of the device by number of nodes; no rate is wrong."""
    slower = [nodes for nodes, (cpu, there) in rates.items() if there <= cpu]
    faster_from = min((n for n in rates if n > max(slower, default=0)), default=None)
    told = ", ".join(f"{n} nodes {cpu:.0f}/{there:.0f}" for n, (cpu, there) in rates.items())
    verdict = (
        f"up to {max(rates)} nodes one processor is as fast"
        if faster_from is None
        else f"the device is faster from {faster_from} nodes on"
    )
    return Finding(
        check="speed",
        ok=True,
        found=f"epochs per second, CPU/device: {told}: {verdict}",
        values={
            "rates": {str(n): {"cpu": rate[0], "device": rate[1]} for n, rate in rates.items()},
            "faster_from": faster_from,
        },
    )


def epochs_per_second(graph: Graph, device: torch.device, seconds: float) -> float:
    """How fast gcn+clar trains, its first epochs apart."""
    rules = {"max_epochs": 10**6, "patience": 10**6, "device": device.type}
    spec = Method("gcn", "clar").spec(graph, {"dropout": 0.5}, "random-60-20-20", (0, 1), **rules)
    times: list[float] = []

    def report(epoch: int, loss: float, score: float) -> None:
        times.append(time.perf_counter())  # the losses were read: the device has done its work
        if len(times) > 8 and times[-1] - times[3] > seconds:
            raise _Enough

    nodes = search_nodes(graph, spec.protocol, spec.split_seed)
    with suppress(_Enough):
        train(spec, TensorGraph.of(graph, device), nodes, report)
    return (len(times) - 4) / (times[-1] - times[3])


def random_graph(nodes: int) -> Graph:
    """Edges and words at random: nothing is to be learned, only timed."""
    draw = np.random.Generator(np.random.PCG64(nodes))
    ends = draw.integers(nodes, size=(2, nodes * DEGREE // 2))
    ends = ends[:, ends[0] != ends[1]]
    rows = np.repeat(np.arange(nodes), WORDS_PER_NODE)
    words = draw.integers(WORDS, size=len(rows))
    entries = (np.ones(len(rows), dtype=np.float32), (rows, words))
    return Graph(
        name=f"random-{nodes}",
        features=sp.csr_array(entries, shape=(nodes, WORDS)),
        edges=np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1),
        labels=np.arange(nodes) % CLASSES,
    )
