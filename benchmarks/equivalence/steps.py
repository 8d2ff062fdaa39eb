"""One step with dropout at given weights: are its outputs and gradients those of torch?

Both engines draw many times at weights that torch has learned. The means of each output and each
gradient are compared in units of their standard error: over all of them such numbers spread with a
deviation of 1 if the means are equal. So are the variances, by the ratio of their means.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from benchmarks.equivalence.cases import Pair, pair_of
from benchmarks.equivalence.results import Results, Row
from clar_tune.engine import task_of
from clar_tune.engine.compiling import called
from clar_tune.engine.objective import cross_entropy
from clar_tune.engine.passes import backward, forward
from clar_tune.models import Model
from clar_tune.training.loop import train

PROGRAMS = ("mlp", "gcn", "sage", "gpr", "cheby", "gat")
DROPOUT, EPOCHS, DRAWS = 0.5, 60, 200
Numbers = NDArray[np.float64]


class Moments:
    """Means and variances of what steps give: loss, outputs and gradients, in one array."""

    def __init__(self, steps: Iterator[list[NDArray[np.float32]]]) -> None:
        self.count, first, second = 0, np.zeros(1), np.zeros(1)
        for parts in steps:
            numbers = np.concatenate([np.ravel(part) for part in parts]).astype(np.float64)
            self.count, first, second = self.count + 1, first + numbers, second + numbers**2
        self.mean = first / self.count
        self.variance = second / self.count - self.mean**2

    def against(self, other: "Moments", part: slice) -> tuple[float, float]:
        """The deviation of z over a part of the numbers, and the ratio of variances."""
        ours, theirs = self.variance[part], other.variance[part]
        moves = ours + theirs > 1e-20
        errors = np.sqrt((ours + theirs)[moves] / self.count)
        z = (self.mean - other.mean)[part][moves] / errors
        return float(np.sqrt((z**2).mean())), float(ours.mean() / theirs.mean())


def native_steps(pair: Pair, model: Model, draws: int) -> Iterator[list[NDArray[np.float32]]]:
    """Steps of the native engine at a model's weights."""
    weights = {
        name.removeprefix("network."): value.numpy() for name, value in model.state_dict().items()
    }
    prepared = task_of(pair.spec, pair.graph.arrays, pair.nodes, weights)
    network, _, layers, data, rules, _, work, flat, *_ = prepared.task
    width = int(layers.outputs[-1])
    for epoch in range(1, draws + 1):
        given = (network, layers, data, rules, flat)
        called(forward)(*given, data.train, rules.dropout, epoch, work)
        work.d_outputs[:], work.gradient[:] = 0, 0
        loss, _ = called(cross_entropy)(
            work.outputs, data.train, data.labels, data.outputs, width, work.d_outputs
        )
        called(backward)(*given, rules.dropout, epoch, work)
        gradients = prepared.layout.unpacked(work.gradient)
        named = [gradients[name.removeprefix("network.")] for name, _ in model.named_parameters()]
        yield [np.float32(loss), prepared.outputs()[data.train], *named]


def torch_steps(pair: Pair, model: Model, draws: int) -> Iterator[list[NDArray[np.float32]]]:
    """Steps of the torch path at a model's weights."""
    graph, nodes = pair.graph.tensors, torch.from_numpy(pair.nodes.train)
    model.train()
    for _ in range(draws):
        model.zero_grad()
        outputs = model(graph, graph.adjacency)[nodes]
        loss = F.cross_entropy(outputs, graph.labels[nodes])
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = [p.grad.numpy() for p in model.parameters() if p.grad is not None]
        yield [np.float32(loss.item()), outputs.detach().numpy(), *gradients]


def compare(pair: Pair, draws: int) -> Row:
    """Deviations of z and ratios of variances: of the loss, outputs and gradients."""
    model = train(pair.spec, pair.graph.tensors, pair.nodes).model
    torch.manual_seed(0)
    ours = Moments(native_steps(pair, model, draws))
    theirs = Moments(torch_steps(pair, model, draws))
    outputs = 1 + len(pair.nodes.train) * pair.graph.graph.num_outputs
    parts = {"loss": slice(0, 1), "outputs": slice(1, outputs), "gradient": slice(outputs, None)}
    row: Row = {}
    for name, part in parts.items():
        row[name], row[f"{name}_variance"] = ours.against(theirs, part)
    return row


def run(folder: Path, graphs: list[str], cases: list[str], draws: int) -> None:
    """Draw for what is not stored yet, then print what is."""
    results = Results(folder, "steps", ("graph", "case"))
    for graph in graphs:
        for case in cases:
            row = {"graph": graph, "case": case}
            if row not in results:
                pair = pair_of(graph, case, 0, DROPOUT, max_epochs=EPOCHS, patience=10**6)
                results.add({**row, **compare(pair, draws)})
    print(f"{'':<20}{'deviation of z':>30}{'ratio of variances':>30}")
    parts = ("loss", "outputs", "gradient")
    print(f"{'graph':<12}{'case':<8}" + "".join(f"{part:>10}" for part in parts * 2))
    for row in results.rows:
        z = "".join(f"{row[part]:>10.3f}" for part in parts)
        ratios = "".join(f"{row[f'{part}_variance']:>10.3f}" for part in parts)
        print(f"{row['graph']:<12}{row['case']:<8}{z}{ratios}")
