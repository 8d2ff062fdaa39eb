"""Epoch time and memory of both engines against a straightforward torch-geometric loop.

All three sides run in turn in one process with one thread, whose processor time is taken; memory
is the growth of the peak resident size of a process that trains one side only. Torch's sampler is
measured alone as well. Geometric means over all graphs and methods stand below.

    python -m benchmarks.epochs --graphs cora,chameleon
"""

import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean, mean, median
from typing import Any

import click

from benchmarks.engines import native_epoch
from benchmarks.memory import megabytes
from benchmarks.straightforward import Penalty, run
from clar_tune.engine import ArrayGraph, program_of
from clar_tune.graphs import Graph, load, search_nodes, seed_pair
from clar_tune.models import Complement, Method, TensorGraph
from clar_tune.records import TrainSpec
from clar_tune.training import train

GRAPHS = "texas,cora,chameleon,squirrel,photo,pubmed,computers"
PROTOCOL = "balanced-60-20-20"
CLAR = {"alpha": 1.0, "beta": 1.0, "samples": 1, "reduction": "node-mean", "clamp": 1.0}
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "gcn": ("none", {}),
    "gcn+clar edge": ("clar", {**CLAR, "sampling": "edge"}),
    "gcn+clar node": ("clar", {**CLAR, "sampling": "node"}),
    "sage": ("none", {}),
    "gat": ("none", {}),
}
ROUNDS = 5
SECONDS = 1.0
"""How long each side trains in each round, and at least two epochs: the first is not counted."""

SIDES = ("ours", "native", "theirs")


class Clock:
    """Times epochs until there are enough."""

    def __init__(self, seconds: float = SECONDS, epochs: int = 2) -> None:
        self.times: list[float] = []
        self.seconds, self.epochs = seconds, epochs
        self.started = self.last = time.process_time()

    def tick(self) -> bool:
        """One epoch is over; is another one wanted?"""
        now = time.process_time()
        self.times.append(now - self.last)
        self.last = now
        return now - self.started < self.seconds or len(self.times) < self.epochs


class _Enough(Exception):
    """Ends a training from inside its report."""


def spec_of(graph: Graph, case: str, dropout: float) -> TrainSpec:
    """A training of a case that does not end by itself."""
    regularizer, params = CASES[case]
    method = Method(case.partition("+")[0], regularizer)
    seeds = seed_pair(graph.name, PROTOCOL, 0, 0, "repeat")
    without_end = {"max_epochs": 10**6, "patience": 10**6}
    return method.spec(graph, {**params, "dropout": dropout}, PROTOCOL, seeds, **without_end)


def ours(graph: Graph, tensors: TensorGraph, case: str, dropout: float, clock: Clock) -> None:
    """Train our torch path until the clock has enough."""
    spec = spec_of(graph, case, dropout)

    def report(*_: float) -> None:
        if not clock.tick():
            raise _Enough

    with suppress(_Enough):
        train(spec, tensors, search_nodes(graph, PROTOCOL, spec.split_seed), report)


def natively(graph: Graph, arrays: ArrayGraph, case: str, dropout: float) -> float:
    """CPU milliseconds of an epoch of the native engine, over about as long as the others."""
    spec = spec_of(graph, case, dropout)
    tried = native_epoch(replace(spec, max_epochs=5), graph, arrays)
    epochs = min(max(int(1000 * SECONDS / tried), 5), 10**5)
    return native_epoch(replace(spec, max_epochs=epochs), graph, arrays)


def theirs(graph: Graph, case: str, dropout: float, clock: Clock) -> None:
    """Train the straightforward loop until the clock has enough."""
    penalty = None
    if "clar" in case:
        # The loop has one way to sample, by edges: node sampling is compared with it as well.
        penalty = Penalty(alpha=1.0, beta=1.0, samples=1)
    split_seed, _ = seed_pair(graph.name, PROTOCOL, 0, 0, "repeat")
    nodes = search_nodes(graph, PROTOCOL, split_seed)
    run(graph, nodes, case.partition("+")[0], penalty, dropout, clock.tick)


def epoch_times(graph: Graph, dropout: float, count: int) -> dict[str, dict[str, float]]:
    """Milliseconds per epoch of all sides of every case, and ratios within each round.

    All cases take turns, and a ratio is the median of the ratios of single rounds, so that a
    machine that is slow for a while is slow for both sides.
    """
    forms = TensorGraph.of(graph), ArrayGraph.of(graph)
    for case in CASES:
        natively(graph, forms[1], case, dropout)  # what is compiled for it does not count
    rounds = [
        {case: _one_round(graph, *forms, case, dropout) for case in CASES} for _ in range(count)
    ]
    return {
        case: {
            "ours": median(turn[case][0] for turn in rounds),
            "native": median(turn[case][1] for turn in rounds),
            "theirs": median(turn[case][2] for turn in rounds),
            "ratio": median(turn[case][2] / turn[case][0] for turn in rounds),
            "native_ratio": median(turn[case][2] / turn[case][1] for turn in rounds),
            "x_gcn": median(turn[case][0] / turn["gcn"][0] for turn in rounds),
        }
        for case in CASES
    }


def _one_round(
    graph: Graph, tensors: TensorGraph, arrays: ArrayGraph, case: str, dropout: float
) -> tuple[float, float, float]:
    mine = Clock()
    ours(graph, tensors, case, dropout, mine)
    other = Clock()
    theirs(graph, case, dropout, other)
    # Means, because some epochs draw for others; the first prepares what is kept.
    native = natively(graph, arrays, case, dropout)
    return 1000 * mean(mine.times[1:]), native, 1000 * mean(other.times[1:])


def _peak(side: str, name: str, case: str, dropout: float, answer: Any) -> None:
    graph = load(name)
    if side == "native":
        program_of(spec_of(graph, case, dropout).backbone)
    Path("/proc/self/clear_refs").write_text("5")  # from here on the peak counts anew
    before = megabytes("VmRSS")
    clock = Clock(seconds=0.0, epochs=2)
    if side == "ours":
        ours(graph, TensorGraph.of(graph), case, dropout, clock)
    elif side == "native":
        spec = replace(spec_of(graph, case, dropout), max_epochs=2)
        native_epoch(spec, graph, ArrayGraph.of(graph))
    else:
        theirs(graph, case, dropout, clock)
    answer.put(megabytes("VmHWM") - before)


def peak_memory(side: str, name: str, case: str, dropout: float) -> float:
    """Megabytes by which training one side raises the peak resident size of its process."""
    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    child = context.Process(target=_peak, args=(side, name, case, dropout, answer))
    child.start()
    child.join()
    return float(answer.get())


def sampler_rates(graph: Graph) -> dict[str, float]:
    """Distinct absent undirected pairs per second, of both samplers, taken in turn."""
    import torch
    from torch_geometric.utils import negative_sampling

    edge_index, n = torch.tensor(graph.edges), graph.num_nodes
    complement = Complement(TensorGraph.of(graph).adjacency)
    present = edge_index[0] * n + edge_index[1]

    def valid(pairs: "torch.Tensor") -> int:
        """Distinct pairs, set by set, that the graph does not join."""
        keys = torch.unique(pairs.amin(0) * copies * n + pairs.amax(0))
        first, second = keys // (copies * n) % n, keys % (copies * n) % n
        absent = ~torch.isin(first * n + second, present)
        return int((absent & (first != second)).sum())

    copies = complement.worthwhile_copies("edge", 1)  # as a training draws them

    def our_pairs() -> "torch.Tensor":
        pattern = complement.sample("edge", 1, copies=copies)
        return torch.stack([pattern.rows.long(), pattern.indices.long()])

    def their_pairs() -> "torch.Tensor":
        both = (edge_index, edge_index.flip(0))
        return torch.cat([negative_sampling(edges, num_nodes=n) for edges in both], dim=1)

    rates: dict[str, list[float]] = {"ours": [], "theirs": []}
    samplers: dict[str, Callable[[], torch.Tensor]] = {"ours": our_pairs, "theirs": their_pairs}
    for _ in range(1 + ROUNDS):
        for side, sample in samplers.items():
            started = time.perf_counter()
            pairs = sample()
            seconds = time.perf_counter() - started
            rates[side].append(valid(pairs) / seconds)
    return {side: median(values[1:]) for side, values in rates.items()}


def measure(name: str, dropout: float, memory: bool, rounds: int) -> list[dict[str, object]]:
    """All rows of one graph."""
    graph = load(name)
    rows: list[dict[str, object]] = []
    for case, milliseconds in epoch_times(graph, dropout, rounds).items():
        row: dict[str, object] = {"graph": name, "case": case, **milliseconds}
        if memory:
            for side in SIDES:
                row[f"{side}_mb"] = peak_memory(side, name, case, dropout)
        rows.append(row)
        print(_line(row), flush=True)
    rates = sampler_rates(graph)
    rows.append({"graph": name, "case": "sampler", **rates})
    print(
        f"{name:<11}{'sampler':<15}{rates['ours']:>9.2e}{rates['theirs']:>9.2e} pairs/s"
        f"{rates['ours'] / rates['theirs']:>9.1f}x",
        flush=True,
    )
    return rows


def _line(row: dict[str, object]) -> str:
    text = f"{row['graph']:<11}{row['case']:<15}{row['ours']:>9.2f}{row['native']:>10.3f}"
    text += f"{row['theirs']:>9.1f}{row['ratio']:>8.1f}x{row['native_ratio']:>8.1f}x"
    text += f"{row['x_gcn']:>8.2f}"
    if "ours_mb" in row:
        text += "".join(
            f"{row[f'{side}_mb']:>{10 if side == 'native' else 9}.0f}" for side in SIDES
        )
    return text


def _means(rows: list[dict[str, Any]]) -> str:
    """How many times as long the loop takes: geometric means of all rows with times."""
    timed = [row for row in rows if "ratio" in row]
    torch, native = (
        geometric_mean(row[name] for row in timed) for name in ("ratio", "native_ratio")
    )
    return f"{'geometric mean':<54}{torch:>9.1f}x{native:>8.1f}x"


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True, help="Graphs, separated by commas.")
@click.option("--rounds", default=ROUNDS, show_default=True, help="Medians are over these.")
@click.option("--dropout", default=0.5, show_default=True, help="Dropout rate of all sides.")
@click.option("--memory/--no-memory", default=True, help="Measure memory in processes of its own.")
@click.option("--out", default="benchmarks/results/epochs.json", show_default=True, type=Path)
def main(graphs: str, rounds: int, dropout: float, memory: bool, out: Path) -> None:
    """Measure epochs and the sampler against the straightforward loop."""
    import torch

    torch.set_num_threads(1)
    head = f"{'graph':<11}{'method':<15}{'ms torch':>9}{'ms native':>10}{'ms PyG':>9}"
    head += f"{'torch':>9}{'native':>9}{'x gcn':>8}"
    print(head + (f"{'MB torch':>9}{'MB native':>10}{'MB PyG':>9}" if memory else ""))
    rows = [row for name in graphs.split(",") for row in measure(name, dropout, memory, rounds)]
    print(_means(rows))
    out.parent.mkdir(parents=True, exist_ok=True)
    facts = {"torch": torch.__version__, "python": sys.version.split()[0], "dropout": dropout}
    out.write_text(json.dumps({**facts, "rows": rows}, indent=1))
    print(f"written to {out}")


if __name__ == "__main__":
    main()
