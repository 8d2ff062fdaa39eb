"""Trajectories without dropout and with given samples, beside those of torch in 64 bit."""

from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.equivalence.cases import Pair, initial_weights, pair_of
from benchmarks.equivalence.given import same_samples, wide
from benchmarks.equivalence.results import Results, Row
from clar_tune.engine import program_of, task_of
from clar_tune.models import TensorGraph
from clar_tune.training.loop import train

PAIRS, EPOCHS, TOLERANCE = 16, 20, 1e-5
RULES = {"max_epochs": EPOCHS, "patience": 10**6}
Losses = NDArray[np.float64]


class Course(NamedTuple):
    """What a training came to."""

    losses: Losses  # [epochs] over validation nodes
    selected: int  # epoch
    outputs: Losses  # [N, C] of that epoch


def by_native(pair: Pair) -> Course:
    """A training by the native engine."""
    weights = initial_weights(pair.spec, pair.graph.tensors)
    prepared = task_of(pair.spec, pair.graph.arrays, pair.nodes, weights, history=True)
    outcome = program_of(pair.spec.backbone)(*prepared.task)
    outputs = prepared.outputs().astype(np.float64)
    return Course(prepared.task.history, outcome.best_epoch, outputs)


def by_torch(pair: Pair, tensors: TensorGraph) -> Course:
    """One by the torch path with the same samples."""
    losses: list[float] = []
    with same_samples(pair):
        fit = train(pair.spec, tensors, pair.nodes, lambda epoch, loss, best: losses.append(loss))
    return Course(np.array(losses), fit.record.best_epoch, fit.logits.double().numpy())


def compare(pair: Pair) -> Row:
    """Distances between the three: of losses over all epochs, of outputs at the selected one.

    A loss of 32 bits is itself rounded, by torch in its sum too; outputs say more of the weights.
    """
    native, narrow = by_native(pair), by_torch(pair, pair.graph.tensors)
    with wide(pair) as tensors:
        exact = by_torch(pair, tensors)
    same = native.selected == narrow.selected == exact.selected

    def outputs(one: Course) -> float | None:
        largest = np.abs(exact.outputs).max()
        return float(np.abs(one.outputs - exact.outputs).max() / largest) if same else None

    return {
        "apart": _distance(native, narrow),
        "native": _distance(native, exact),
        "torch": _distance(narrow, exact),
        "native_outputs": outputs(native),
        "torch_outputs": outputs(narrow),
    }


def _distance(one: Course, other: Course) -> float:
    return float(np.max(np.abs(one.losses - other.losses) / np.abs(other.losses)))


def run(folder: Path, graphs: list[str], cases: list[str], pairs: int) -> None:
    """Compare what is not stored yet, and print a line for each graph and case."""
    results = Results(folder, "mathematics", ("graph", "case", "index"))
    print(
        f"{'graph':<11}{'case':<20}{'pairs':>6}{'equal':>7}{'apart':>10}"
        f"{'native':>10}{'torch':>10}{'further':>9}{'native':>10}{'torch':>10}{'further':>9}"
    )
    for graph in graphs:
        for case in cases:
            for index in range(pairs):
                row = {"graph": graph, "case": case, "index": index}
                if row not in results:
                    results.add({**row, **compare(pair_of(graph, case, index, 0.0, **RULES))})
            print(_line(results.rows, graph, case), flush=True)


def _line(rows: list[Row], graph: str, case: str) -> str:
    found = [row for row in rows if (row["graph"], row["case"]) == (graph, case)]
    equal = sum(row["apart"] <= TOLERANCE for row in found)
    text = f"{graph:<11}{case:<20}{len(found):>6}{equal:>7}{_median(found, 'apart')}"
    text += _median(found, "native") + _median(found, "torch")
    text += f"{sum(row['native'] > row['torch'] for row in found):>9}"
    told = [row for row in found if row["native_outputs"] is not None]
    text += _median(told, "native_outputs") + _median(told, "torch_outputs")
    further = sum(row["native_outputs"] > row["torch_outputs"] for row in told)
    return f"{text}{further:>6}/{len(told)}"


def _median(rows: list[Row], name: str) -> str:
    return f"{median(row[name] for row in rows):>10.1e}" if rows else f"{'-':>10}"
