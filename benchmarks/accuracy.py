"""Accuracy of single configurations on the real graphs, beside what the paper prints.

Each line trains on ten fresh pairs of split and weights, on balanced 60/20/20 splits where it
says nothing else, with the penalty's node mean. Differences are paired, ± is a standard
deviation. ``active`` is the fraction of epochs in which the penalty had a gradient. The last lines
choose alpha and beta of gcn+clar on texas by the mean validation score on ten other splits.

    python -m benchmarks.accuracy
"""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import click

from clar_tune.graphs import Graph, load, search_nodes, seed_pair
from clar_tune.models import Method, TensorGraph
from clar_tune.records import Params
from clar_tune.training import test_score, train

BALANCED = "balanced-60-20-20"
USUAL: Params = {"lr": 0.01, "dropout": 0.5}
NODE_MEAN: Params = {"reduction": "node-mean", "clamp": 1.0, "alpha": 1.0, "sampling": "node"}
TEXAS_GRID = [(alpha, beta) for alpha in (0.0, 0.5, 1.0, 2.0) for beta in (0.0, 0.5, 1.0, 2.0)]


@dataclass(frozen=True)
class Line:
    """One configuration on one graph."""

    graph: str
    method: str
    params: Params = field(default_factory=lambda: dict(USUAL))
    protocol: str = BALANCED
    preprocessing: str = "undirected"
    select: str = "loss"
    purpose: str = "final"
    paper: float = float("nan")


class Effort(NamedTuple):
    """How much each line is trained."""

    pairs: int
    max_epochs: int


class Loaded:
    """Graphs, loaded once."""

    def __init__(self) -> None:
        self._graphs: dict[tuple[str, str], tuple[Graph, TensorGraph]] = {}

    def __call__(self, name: str, preprocessing: str) -> tuple[Graph, TensorGraph]:
        """A graph as arrays and as tensors."""
        key = (name, preprocessing)
        if key not in self._graphs:
            graph = load(*key)
            self._graphs[key] = (graph, TensorGraph.of(graph))
        return self._graphs[key]


def run(line: Line, loaded: Loaded, effort: Effort) -> dict[str, list[float]]:
    """Validation and test scores in percent and the penalty's activity, pair by pair."""
    graph, tensors = loaded(line.graph, line.preprocessing)
    method = Method.parse(line.method)
    scores: dict[str, list[float]] = {"val": [], "test": [], "active": []}
    for index in range(effort.pairs):
        seeds = seed_pair(line.graph, line.protocol, 0, index, line.purpose)
        spec = method.spec(graph, line.params, line.protocol, seeds, select=line.select)
        spec = replace(spec, max_epochs=effort.max_epochs)
        fit = train(spec, tensors, search_nodes(graph, line.protocol, spec.split_seed))
        scores["val"].append(100 * fit.record.val_score)
        if line.purpose == "final":
            scores["test"].append(100 * test_score(fit, spec, graph))
        if fit.record.penalty_active is not None:
            scores["active"].append(fit.record.penalty_active)
    return scores


def lines() -> list[tuple[Line, int | None]]:
    """What is measured, and with which earlier line each is paired."""
    cora = [
        (Line("cora", "gcn", paper=87.24), None),
        (Line("cora", "gcn+clar", {**USUAL, **NODE_MEAN, "beta": 1.0}, paper=88.23), 0),
        (Line("cora", "gcn+clar", {**USUAL, **NODE_MEAN, "beta": 2.0}, paper=88.23), 0),
    ]
    pubmed = [(Line("pubmed", "gcn", protocol="planetoid", paper=76.3), None)]
    plain = {"lr": 0.05, "dropout": 0.0}
    trace = {**plain, "reduction": "trace", "clamp": 1.0, "alpha": 1.0, "beta": 1.0}
    chameleon = [
        (Line("chameleon", "gcn", plain, paper=61.25), None),
        (Line("chameleon", "gcn+clar", trace, paper=64.23), 4),
    ]
    paper = {"gcn": (64.92, 59.70, 32.96), "sage": (88.31, 86.15, 37.78)}
    both = [
        (Line(name, method, preprocessing=how, paper=paper[method][number]), None)
        for number, name in enumerate(("texas", "cornell", "actor"))
        for method in ("gcn", "sage")
        for how in ("undirected", "released")
    ]
    return [*cora, *pubmed, *chameleon, *both]


def texas(loaded: Loaded, effort: Effort, select: str) -> list[Line]:
    """The plain line and the setting with the best mean validation score on other splits."""
    usual = {**USUAL, "lr": 0.05}

    def searched(alpha_beta: tuple[float, float]) -> float:
        params = {**usual, **NODE_MEAN, "alpha": alpha_beta[0], "beta": alpha_beta[1]}
        line = Line("texas", "gcn+clar", params, purpose="repeat", select=select)
        return mean(run(line, loaded, effort)["val"])

    alpha, beta = max(TEXAS_GRID, key=searched)
    chosen = {**usual, **NODE_MEAN, "alpha": alpha, "beta": beta}
    return [
        Line("texas", "gcn", usual, select=select, paper=64.92),
        Line("texas", "gcn+clar", chosen, select=select, paper=71.38),
    ]


HEAD = (
    f"{'graph':<10}{'method':<10}{'setting':<34}{'test':>13}{'paper':>8}"
    f"{'paired gain':>14}{'active':>8}"
)


def describe(line: Line, scores: dict[str, list[float]], gain: list[float] | None) -> str:
    """One line of the table."""
    text = f"{line.graph:<10}{line.method:<10}{setting(line):<34}"
    text += f"{mean(scores['test']):6.2f} ± {stdev(scores['test']):4.2f}{line.paper:8.2f}"
    text += f"{mean(gain):+7.2f} ± {stdev(gain):4.2f}" if gain else " " * 14
    return text + (f"{mean(scores['active']):8.3f}" if scores["active"] else "")


def setting(line: Line) -> str:
    """What sets a line apart from the others."""
    usual = ("lr", "dropout", "clamp", "sampling")
    parts = [f"{key} {value}" for key, value in line.params.items() if key not in usual]
    parts = [part.removeprefix("reduction ") for part in parts if part != "reduction node-mean"]
    if line.protocol != BALANCED:
        parts.append(line.protocol)
    if line.preprocessing != "undirected":
        parts.append("directed")
    if line.select != "loss":
        parts.append(f"by {line.select}")
    return ", ".join(parts)


@click.command()
@click.option("--pairs", default=10, show_default=True, type=click.IntRange(2))
@click.option("--max-epochs", default=1000, show_default=True, type=click.IntRange(1))
@click.option("--out", default="benchmarks/results/accuracy.json", show_default=True, type=Path)
def main(pairs: int, max_epochs: int, out: Path) -> None:
    """Measure accuracy on the real graphs."""
    loaded, effort = Loaded(), Effort(pairs, max_epochs)
    print(HEAD)
    results: list[dict[str, object]] = []
    tested: list[list[float]] = []

    def measure(line: Line, partner: int | None) -> None:
        scores = run(line, loaded, effort)
        tested.append(scores["test"])
        gain = None
        if partner is not None:
            gain = [a - b for a, b in zip(scores["test"], tested[partner], strict=True)]
        results.append({**vars(line), **scores, "gain": gain})
        print(describe(line, scores, gain), flush=True)

    for line, partner in lines():
        measure(line, partner)
    for select in ("loss", "accuracy"):
        plain, chosen = texas(loaded, effort, select)
        measure(plain, None)
        measure(chosen, len(tested) - 1)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=1))
    print(f"written to {out}")


if __name__ == "__main__":
    main()
