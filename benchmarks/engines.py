"""CPU time per epoch of our torch path and of the native engine, one thread, in turn.

Training and evaluation; the first epoch of the torch path and all compiling are left out.

python -m benchmarks.engines --graphs texas,cora --methods gcn,gcn+clar
"""

import json
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import click

from clar_tune.engine import TARGET, ArrayGraph, program_of, task_of
from clar_tune.graphs import Graph, load, search_nodes, seed_pair
from clar_tune.models import Method, TensorGraph
from clar_tune.records import TrainSpec
from clar_tune.training import train

GRAPHS = "texas,cora,chameleon,squirrel,photo,pubmed,computers"
PROTOCOL = "balanced-60-20-20"
CLAR = {"alpha": 0.1, "beta": 0.1, "samples": 1, "sampling": "node", "clamp": None}
CASES: dict[str, dict[str, object]] = {
    "gcn": {},
    "gcn+clar": CLAR,
    "gcn+clar edge": {**CLAR, "sampling": "edge"},
    "gcn+preg": {},
    "gcn+dropedge": {"rate": 0.3},
    "mlp": {},
    "sage": {},
    "gpr": {},
    "cheby": {},
    "gat": {},
}
Row = dict[str, str | float]

SECONDS = 0.5
"""How long the torch path trains in each round, and at least three epochs."""


class _Enough(Exception):
    """Ends a training of the torch path from inside its report."""


def torch_epoch(spec: TrainSpec, graph: Graph, tensors: TensorGraph, seconds: float) -> float:
    """Mean CPU milliseconds of an epoch of the torch path, but for the first."""
    times: list[float] = []
    end = time.process_time() + seconds

    def report(*_: float) -> None:
        times.append(time.process_time())
        if times[-1] > end and len(times) > 3:
            raise _Enough

    with suppress(_Enough):
        train(spec, tensors, search_nodes(graph, PROTOCOL, spec.split_seed), report)
    return 1000 * mean(after - before for before, after in zip(times, times[1:], strict=False))


def native_epoch(spec: TrainSpec, graph: Graph, arrays: ArrayGraph) -> float:
    """Mean CPU milliseconds of an epoch of the native engine."""
    task = task_of(spec, arrays, search_nodes(graph, PROTOCOL, spec.split_seed)).task
    started = time.process_time()
    outcome = program_of(spec.backbone)(*task)
    return 1000 * (time.process_time() - started) / int(outcome.epochs)


def measure(name: str, cases: list[str], dropouts: list[float], rounds: int) -> list[Row]:
    """One row for each case and dropout rate of a graph: medians over rounds."""
    graph = load(name)
    tensors, arrays = TensorGraph.of(graph), ArrayGraph.of(graph)
    seeds = seed_pair(name, PROTOCOL, 0, 0, "repeat")
    rows = []
    for case in cases:
        method = Method.parse(case.partition(" ")[0])
        program_of(method.backbone)
        for dropout in dropouts:
            params = {**CASES[case], "dropout": dropout}
            endless = {"max_epochs": 10**6, "patience": 10**6}
            spec = method.spec(graph, params, PROTOCOL, seeds, **endless)
            pairs = []
            epochs = 10
            for _ in range(rounds):
                theirs = torch_epoch(spec, graph, tensors, SECONDS)
                ours = native_epoch(replace(spec, max_epochs=epochs), graph, arrays)
                epochs = min(max(int(300 / ours), 10), 5000)
                pairs.append((theirs, ours))
            row = {
                **{"graph": name, "case": case, "dropout": dropout},
                "torch": median(torch for torch, _ in pairs[1:]),
                "native": median(native for _, native in pairs[1:]),
                "ratio": median(torch / native for torch, native in pairs[1:]),
            }
            rows.append(row)
            print(
                f"{name:<11}{case:<15}{dropout:>7}{row['torch']:>9.3f}{row['native']:>9.3f}"
                f"{row['ratio']:>8.1f}x",
                flush=True,
            )
    return rows


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True)
@click.option("--methods", default=",".join(CASES), show_default=True)
@click.option("--dropouts", default="0.5", show_default=True)
@click.option("--rounds", default=4, show_default=True, help="The first is not counted.")
@click.option("--out", default="benchmarks/results/engines.json", show_default=True, type=Path)
def main(graphs: str, methods: str, dropouts: str, rounds: int, out: Path) -> None:
    """Measure both engines."""
    import torch

    torch.set_num_threads(1)
    print(f"target {TARGET}; CPU milliseconds per epoch")
    print(f"{'graph':<11}{'method':<15}{'dropout':>7}{'torch':>9}{'native':>9}{'ratio':>9}")
    rates = [float(rate) for rate in dropouts.split(",")]
    rows = [
        row
        for name in graphs.split(",")
        for row in measure(name, methods.split(","), rates, rounds)
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    facts = {"torch": torch.__version__, "python": sys.version.split()[0], "target": TARGET}
    out.write_text(json.dumps({**facts, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
