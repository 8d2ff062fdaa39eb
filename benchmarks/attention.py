"""How fast attention goes back through its first layer, beside what a processor can do.

Each edge and self-loop takes 4 operations for each output column: the product of its gradient
with what was mapped, and the sum of weighted gradients. Exponentials and dropout of its weights,
which are computed anew, take time and are not counted, nor is what is done once for each node.
``limit`` is what a product of dense matrices in the first cache reaches, 2 operations a step.

    python -m benchmarks.attention --graphs cora,squirrel
"""

import time
from collections.abc import Callable
from statistics import median

import click
import numpy as np

from clar_tune.engine import ArrayGraph, task_of
from clar_tune.engine.arrays import room
from clar_tune.engine.compiling import called
from clar_tune.engine.dense import dense_product
from clar_tune.engine.networks import gat
from clar_tune.graphs import load, search_nodes, seed_pair
from clar_tune.models import Method

PROTOCOL = "balanced-60-20-20"
ROUNDS = 30
ROWS, INNER, WIDTH = 256, 32, 16
"""Of the dense product: 52 kilobytes in all."""


def seconds_of(call: Callable[[], object]) -> float:
    """Median processor time of a call that was made before."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return median(times)


def limit() -> float:
    """Operations in a second of a dense product that stays in the caches, in billions."""
    x, w, y = room(ROWS * INNER), room(INNER * WIDTH), room(ROWS * WIDTH)
    product, repeats = called(dense_product), 100

    def work() -> None:
        for _ in range(repeats):
            product(x, w, ROWS, INNER, WIDTH, y)

    return 2 * ROWS * INNER * WIDTH * repeats / seconds_of(work) / 1e9


def backward(name: str, dropout: float) -> tuple[float, float]:
    """Milliseconds of a pass back through the first layer, and GF/s."""
    graph = load(name)
    seeds = seed_pair(name, PROTOCOL, 0, 0, "repeat")
    spec = Method.parse("gat").spec(graph, {"dropout": dropout}, PROTOCOL, seeds, max_epochs=1)
    task = task_of(spec, ArrayGraph.of(graph), search_nodes(graph, PROTOCOL, seeds[0])).task
    network, layers, work, nodes = task.network, task.layers, task.work, graph.num_nodes
    width = int(layers.outputs[0])
    random = np.random.default_rng(0)
    z, g = (random.standard_normal(nodes * width).astype(np.float32) for _ in range(2))
    common = (network, layers, 0, task.weights)
    out = room(nodes * width)
    called(gat.forward)(*common, z, task.data.every, out, 1)
    dz = room(nodes * width)
    spent = seconds_of(lambda: called(gat.backward)(*common, z, g, work.gradient, dz))
    entries = len(network.operator.matrix.columns)
    return 1000 * spent, 4 * entries * width / spent / 1e9


@click.command()
@click.option("--graphs", default="texas,cora,chameleon,squirrel,photo", show_default=True)
@click.option("--dropout", default=0.5, show_default=True)
def main(graphs: str, dropout: float) -> None:
    """A line for each graph."""
    most = limit()
    print(f"limit {most:.0f} GF/s; dropout {dropout}, default heads and widths, one thread")
    print(f"{'graph':<11}{'ms':>8}{'GF/s':>8}{'of limit':>10}")
    for name in graphs.split(","):
        spent, speed = backward(name, dropout)
        print(f"{name:<11}{spent:>8.2f}{speed:>8.1f}{speed / most:>10.0%}")


if __name__ == "__main__":
    main()
