"""Test accuracies of both engines on the same splits from the same weights, other streams."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

import torch
from scipy import stats

from benchmarks.equivalence.cases import CASES, Pair, initial_weights, pair_of
from benchmarks.equivalence.results import Results, Row
from clar_tune.engine import train as train_natively
from clar_tune.training import test_score
from clar_tune.training.loop import train as train_by_torch

DROPOUT = 0.5
RULES = {"max_epochs": 200, "patience": 40, "warmup": 0}
"""Patience ends most trainings earlier, so that epochs say something too."""

PAIRS = {"cora": 100, "chameleon": 100, "texas": 600}
MARGINS = {"cora": 0.5, "chameleon": 0.5, "texas": 1.0}
POOLED_MARGIN = 0.2
EPOCHS_MARGIN = 0.1
ON_TEXAS = ("gcn", "gcn+clar", "gat")
CHEAPEST_FIRST = sorted(CASES, key=lambda case: (case == "gat", case == "gcn+madreg"))


@dataclass(frozen=True)
class _Answers:
    """What a test score is taken of."""

    logits: torch.Tensor


def compare(pair: Pair) -> Row:
    """Test accuracies in percent, and epochs, of both engines."""
    spec, graph = pair.spec, pair.graph
    theirs = train_by_torch(spec, graph.tensors, pair.nodes)
    weights = initial_weights(spec, graph.tensors)
    ours = train_natively(spec, graph.arrays, pair.nodes, weights=weights)
    answers = _Answers(torch.from_numpy(ours.logits))
    return {
        "torch": 100 * test_score(theirs, spec, graph.graph),
        "native": 100 * test_score(answers, spec, graph.graph),  # type: ignore[arg-type]
        "torch_epochs": theirs.record.epochs,
        "native_epochs": ours.record.epochs,
    }


def planned(graphs: list[str], cases: list[str], rerun: int) -> Iterator[Row]:
    """All pairs, cheapest first, a few of each case before more of any."""
    for graph in graphs:
        chosen = [case for case in cases if graph != "texas" or case in ON_TEXAS]
        first = rerun * PAIRS[graph]
        for start in range(first, first + PAIRS[graph], 10):
            for case in chosen:
                for index in range(start, start + 10):
                    yield {"graph": graph, "case": case, "index": index}


def run(folder: Path, graphs: list[str], cases: list[str], rerun: int, at_most: int) -> None:
    """Train what is not stored yet, then print the tests of all that is."""
    results = Results(folder, "accuracy", ("graph", "case", "index"))
    left = (row for row in planned(graphs, cases, rerun) if row not in results)
    for _, row in zip(range(at_most), left, strict=False):
        pair = pair_of(row["graph"], row["case"], row["index"], DROPOUT, **RULES)
        results.add({**row, **compare(pair)})
    for line in report(results.rows):
        print(line)


def within(differences: list[float], margin: float) -> float:
    """The p value of two one-sided t tests that a mean lies within the margin."""
    error = stdev(differences) / math.sqrt(len(differences))
    if error == 0:
        return 0.0 if abs(mean(differences)) < margin else 1.0
    distance = (margin - abs(mean(differences))) / error
    return float(stats.t.sf(distance, len(differences) - 1))


def report(rows: list[Row]) -> Iterator[str]:
    """A line for each graph and case, for programs pooled, and for epochs."""
    yield "sets of pairs; points, native minus torch; p that it is beyond"
    yield f"{'graph':<11}{'case':<23}{'pairs':>6}{'difference':>18}{'margin':>8}{'p':>9}"
    for (graph, case, number), found in _grouped(rows).items():
        name = f"{case}, set {number + 1}" if number else case
        yield _line(graph, name, _points(found), MARGINS[graph])
    for graph in ("cora", "chameleon"):
        programs = [row for row in rows if row["graph"] == graph and "+" not in row["case"]]
        first = [row for row in programs if not _set_of(row)]
        for name, pooled in (("programs pooled", first), ("pooled, all sets", programs)):
            if len(pooled) > 1:
                yield _line(graph, name, _points(pooled), POOLED_MARGIN)
    ratios = [math.log(row["native_epochs"] / row["torch_epochs"]) for row in rows]
    if len(ratios) > 1:
        yield _line("all", "log epochs", ratios, EPOCHS_MARGIN)


def _grouped(rows: list[Row]) -> dict[tuple[str, str, int], list[Row]]:
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["graph"], row["case"], _set_of(row)), []).append(row)
    order = {"cora": 0, "chameleon": 1, "texas": 2}
    found = {key: own for key, own in groups.items() if len(own) > 1}
    return dict(sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][2])))


def _set_of(row: Row) -> int:
    """0 for the first pairs, 1 for those of a rerun, and so on."""
    return int(row["index"]) // PAIRS[str(row["graph"])]


def _points(rows: list[Row]) -> list[float]:
    return [row["native"] - row["torch"] for row in rows]


def _line(graph: str, case: str, differences: list[float], margin: float) -> str:
    error = stdev(differences) / math.sqrt(len(differences))
    p = within(differences, margin)
    shown = f"{mean(differences):+.3f} ± {error:.3f}"
    return f"{graph:<11}{case:<23}{len(differences):>6}{shown:>18}{margin:>8}{p:>9.4f}"
