"""Two processors for trainings of the native engine: processes, threads, shared kernels.

Each way does the same trainings of gcn, of which every one lasts a fixed number of epochs, after
everything is loaded. Memory is that of all processes, what they share counted once (PSS).

    1 process       one thread, which leaves a processor idle
    2 processes     one thread each: what a run does by default
    2 threads       of one process, side by side, as --cpus-per-trial 2 does on small graphs
    shared kernels  two threads for one training after the other, as it does on large ones

python -m benchmarks.threads --graphs cora,photo,physics
"""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

from clar_tune.engine import ArrayGraph, program_of, scope, task_of
from clar_tune.engine.teams import Alone, Team, gather
from clar_tune.graphs import load, search_nodes, seed_pair
from clar_tune.models import Method

PROTOCOL = "balanced-60-20-20"
WAYS = {"1 process": 1, "2 processes": 2, "2 threads": 1, "shared kernels": 1}
"""How many processes each way has."""

MIB = 2**10
"""KiB of a MiB, in which Linux counts."""


def child(graph_name: str, way: str, trainings: int, epochs: int) -> None:
    """One process: it says that it is ready, waits for a line, and tells what it took."""
    graph = load(graph_name)
    arrays, method = ArrayGraph.of(graph), Method.parse("gcn")
    team = Team(2) if way == "shared kernels" else Alone(1)
    call = program_of("gcn", team.size)
    params = method.complete({"dropout": 0.5})
    rules = {"max_epochs": epochs, "patience": epochs}

    def one(number: int) -> None:
        seeds = seed_pair(graph_name, PROTOCOL, 0, number, "repeat")
        spec = method.spec(graph, params, PROTOCOL, seeds, **rules)
        nodes = search_nodes(graph, PROTOCOL, spec.split_seed)
        gather(team)
        call(*task_of(spec, arrays, nodes, team=team).task)

    one(0)
    print("ready", flush=True)
    input()
    began = time.process_time()
    with ThreadPoolExecutor(2 if way == "2 threads" else 1) as threads:
        list(threads.map(one, range(trainings)))
    found = {"cpu": time.process_time() - began, "memory": proportional_memory()}
    print(json.dumps(found), flush=True)
    input()


def proportional_memory() -> float:
    """MiB of this process, of what others have too its share."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    (pss,) = (line for line in lines if line.startswith("Pss:"))
    return int(pss.split()[1]) / MIB


def measure(graph: str, way: str, trainings: int, epochs: int) -> dict[str, Any]:
    """What one way takes."""
    count = WAYS[way]
    arguments = ["--child", way, "--graphs", graph, "--epochs", str(epochs)]
    command = [sys.executable, "-m", "benchmarks.threads", *arguments]
    command += ["--trainings", str(trainings // count)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [subprocess.Popen(command, **pipes) for _ in range(count)]

    def tell_all() -> None:
        for process in children:
            process.stdin.write("\n")
            process.stdin.flush()

    for process in children:
        process.stdout.readline()
    began = time.perf_counter()
    tell_all()
    found = [json.loads(process.stdout.readline()) for process in children]
    wall = time.perf_counter() - began
    tell_all()
    for process in children:
        process.wait()
    return {
        **{"graph": graph, "way": way, "per_minute": 60 * trainings / wall},
        "cpu": sum(one["cpu"] for one in found) / trainings,
        "memory": sum(one["memory"] for one in found),
    }


@click.command()
@click.option("--graphs", default="cora,photo,physics", show_default=True)
@click.option("--trainings", default=8, show_default=True, help="Of each way, an even number.")
@click.option("--epochs", default=50, show_default=True)
@click.option("--child", "way", hidden=True)
def main(graphs: str, trainings: int, epochs: int, way: str | None) -> None:
    """Measure what two processors do."""
    if way:
        child(graphs, way, trainings, epochs)
        return
    print(f"{trainings} trainings of gcn, {epochs} epochs; large from {scope.LARGE:,} entries on")
    print(f"{'graph':<11}{'way':<16}{'trainings/min':>14}{'CPU s each':>12}{'MiB':>8}")
    for graph in graphs.split(","):
        for name in WAYS:
            row = measure(graph, name, trainings, epochs)
            print(
                f"{graph:<11}{name:<16}{row['per_minute']:>14.1f}{row['cpu']:>12.2f}"
                f"{row['memory']:>8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
