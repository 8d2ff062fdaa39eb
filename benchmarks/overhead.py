"""What scheduling costs: trials per minute of `clar-tune run` against a bare loop.

`run` searches with TPE on Ray into a store, two trials at once. The bare loop trains the same
configurations in two processes that share a queue, and does nothing else. Both sides are timed
from the start of the first training to the end of the last, in turn, in one run of this script;
starting Ray or processes does not count.

    python -m benchmarks.overhead
"""

import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from clar_tune.graphs import Graph, load, seed_pair
from clar_tune.models import Method, TensorGraph
from clar_tune.search import Job, TrainingResult, perform
from clar_tune.store import Store

GRAPH, METHOD, PROTOCOL = "csbm-homophily", "gcn+clar", "balanced-60-20-20"
TRIALS = {1.0: 60, 0.25: 160}
"""Seconds of a trial, and how many are timed."""
SPACE = """
description: trials of a fixed number of epochs
graphs: [{graph}]
methods: [{method}]
protocol: {protocol}
training: {{max_epochs: {epochs}, patience: {epochs}}}
search: {{trials: {trials}, repeats: 1}}
finals: 1
settings:
  tuned:
    shared: {{lr: {{low: 0.003, high: 0.03, log: true}}}}
    regularizers: {{clar: {{alpha: {{low: 0, high: 1}}, beta: {{low: 0, high: 1}}}}}}
"""


@click.command()
@click.option("--rounds", default=2, show_default=True, type=click.IntRange(1))
@click.option("--at-most", type=click.IntRange(4), help="Trials of a round, if not so many.")
def main(rounds: int, at_most: int | None) -> None:
    """Time both sides in turn."""
    epoch = seconds_per_epoch()
    print(f"{'trial':>6} {'epochs':>7} {'trials':>7} {'run/min':>8} {'loop/min':>9} {'ratio':>6}")
    for seconds, usual in TRIALS.items():
        epochs, trials = max(1, round(seconds / epoch)), min(usual, at_most or usual)
        for _ in range(rounds):
            searched, jobs = by_run(epochs, trials)
            looped = by_loop(jobs)
            print(
                f"{seconds:>4} s {epochs:>7} {trials:>7} {searched:>8.1f} {looped:>9.1f} "
                f"{searched / looped:>6.1%}",
                flush=True,
            )


def job(graph: Graph, params: dict, epochs: int) -> Job:
    """One trial of one repeat."""
    rules = {"max_epochs": epochs, "patience": epochs, "warmup": 50, "threads": 1}
    seeds = seed_pair(GRAPH, PROTOCOL, 0, 0, "repeat")
    spec = Method.parse(METHOD).spec(graph, params, PROTOCOL, seeds, **rules)
    return Job(
        study=0,
        trial=0,
        purpose="repeat",
        first=0,
        specs=(spec,),
        variant={},
        seed=0,
        timeout=600,
    )


def seconds_per_epoch() -> float:
    """Of two processes at once, as both sides have them."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return max(pool.map(probe, range(2)))


def probe(_: int) -> float:
    """Seconds of one epoch in this process."""
    graph = load(GRAPH)
    tensors = TensorGraph.of(graph)
    perform(job(graph, {}, 50), 0, graph, tensors)
    done = perform(job(graph, {}, 400), 0, graph, tensors)
    assert isinstance(done, TrainingResult)
    return done.record.seconds / 400


def by_run(epochs: int, trials: int) -> tuple[float, list[Job]]:
    """Trials per minute of `clar-tune run`, and its trials as jobs."""
    with tempfile.TemporaryDirectory() as folder:
        space = Path(folder) / "overhead.yaml"
        space.write_text(
            SPACE.format(
                graph=GRAPH, method=METHOD, protocol=PROTOCOL, epochs=epochs, trials=trials
            )
        )
        command = ["run", "--space", str(space), "--store", folder, "--quiet", "--name", "a"]
        command += ["--max-concurrent", "2", "--engine", "torch"]  # as the loop
        subprocess.run(
            [sys.executable, "-m", "clar_tune", *command], check=True, stdout=subprocess.DEVNULL
        )
        rows = Store.open(folder).table("repeats", "a").to_pylist()
    began = min(row["started"].timestamp() for row in rows)
    ended = max(row["started"].timestamp() + row["seconds"] for row in rows)
    graph = load(GRAPH)
    jobs = [job(graph, json.loads(row["params"]), epochs) for row in rows]
    return 60 * trials / (ended - began), jobs


def by_loop(jobs: list[Job]) -> float:
    """Trials per minute of two processes and a queue."""
    context = multiprocessing.get_context("spawn")
    queue, times = context.Queue(), context.Queue()
    ready = context.Barrier(2)
    workers = [context.Process(target=loop, args=(queue, times, ready)) for _ in range(2)]
    for item in [*jobs, None, None]:
        queue.put(item)
    for worker in workers:
        worker.start()
    spans = [times.get() for _ in workers]
    for worker in workers:
        worker.join()
    return 60 * len(jobs) / (max(end for _, end in spans) - min(begin for begin, _ in spans))


def loop(queue, times, ready) -> None:
    """One process of the bare loop."""
    graph = load(GRAPH)
    tensors = TensorGraph.of(graph)
    perform(job(graph, {}, 5), 0, graph, tensors)
    ready.wait()
    began = time.time()
    while (item := queue.get()) is not None:
        assert isinstance(perform(item, 0, graph, tensors), TrainingResult)
    times.put((began, time.time()))


if __name__ == "__main__":
    main()
