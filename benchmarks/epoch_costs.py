"""Measures what an epoch costs, and fits the table that ``run --dry-run`` judges plans by.

Processor time of single-threaded trainings, so that a busy machine gives the same table. The fit
minimises relative errors with costs that are not negative; graphs whose files are not here are
left out. Printed at the end: how far the fit is from each measurement.

    python -m benchmarks.epoch_costs
"""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from clar_tune.graphs import Graph, dataset_named, load, locate, search_nodes, seed_pair
from clar_tune.models import BACKBONES, REGULARIZERS, Method, TensorGraph
from clar_tune.records import Params, Value
from clar_tune.search.epoch_costs import added_work, is_random, work
from clar_tune.search.sizes import Size
from clar_tune.training import train, warm_up

GRAPHS = (
    *("csbm-homophily", "texas", "chameleon", "cora", "actor", "squirrel"),
    *("pubmed", "photo", "cs", "computers"),
)
WITH_DENSE = ("csbm-homophily", "texas", "chameleon")
"""Graphs that are measured with their features' zeros besides, as variants of graphs have them."""

PROTOCOL = "balanced-60-20-20"
NETWORKS: tuple[dict[str, Value], ...] = (
    {"hidden": 32, "layers": 2},
    {"hidden": 128, "layers": 2},
    {"hidden": 32, "layers": 6},
)
NARROW = {"gat": {"hidden": 8}}
"""Inner layers of these are as wide as all their heads together."""

DROPOUT = (0.0, 0.5)
PENALTIES: tuple[tuple[str, dict[str, Value]], ...] = (
    *(
        ("clar", {"sampling": how, "samples": n, "beta": 1.0})
        for how in ("node", "edge")
        for n in (1, 2)
    ),
    *((name, {}) for name in ("nl", "preg", "madreg", "dropedge")),
)
SECONDS = 0.25
"""Processor time for which epochs are measured, and at least three of them."""

LEARNED = ("csbm-homophily", "texas", "chameleon", "cora")
LEARNED_SLOWLY = {"gat": LEARNED[:2]}
RATES = (0.001, 0.01, 0.1)

ABOUT = (
    "Made by benchmarks/epoch_costs.py: nanoseconds per unit of work, and the epoch that is "
    "selected by learning rate."
)
TABLE = Path("clar_tune/search/epoch_costs.json")


class _Enough(Exception):
    """Ends a training from inside its report."""


class Subject:
    """A graph that is trained on."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.size, self.tensors = graph, Size.of(graph), TensorGraph.of(graph)

    def seconds(self, method: Method, params: Params) -> float:
        """Processor time of an epoch; the first ones prepare what is kept."""
        ends: list[float] = []

        def report(*_: float) -> None:
            ends.append(time.process_time())
            if len(ends) > 3 and ends[-1] - ends[1] > SECONDS:
                raise _Enough

        spec = self._spec(method, params, max_epochs=10**6, patience=10**6)
        with suppress(_Enough):
            train(spec, self.tensors, self._nodes(spec.split_seed), report)
        return fmean(np.diff(ends[1:]))

    def selected(self, method: Method, params: Params) -> int:
        """The epoch that a whole training selects."""
        spec = self._spec(method, params, max_epochs=1000, patience=100)
        return train(spec, self.tensors, self._nodes(spec.split_seed)).record.best_epoch

    def _spec(self, method: Method, params: Params, **rules: Any) -> Any:
        seeds = seed_pair(self.graph.name, PROTOCOL, 0, 0, "repeat")
        return method.spec(self.graph, params, PROTOCOL, seeds, **rules)

    def _nodes(self, split_seed: int) -> Any:
        return search_nodes(self.graph, PROTOCOL, split_seed)


def subjects() -> Iterator[Subject]:
    """The graphs that are here, some also dense."""
    for name in GRAPHS:
        if not _is_here(name):
            print(f"{name}: not here, left out", flush=True)
            continue
        graph = load(name)
        yield Subject(graph)
        if name in WITH_DENSE:
            yield Subject(replace(graph, features=graph.features.toarray(), origin="dense"))


def measured() -> Iterator[dict[str, Any]]:
    """A row for each training: what was trained, its work, and its seconds."""
    for subject in subjects():
        cases = [
            (Method(backbone, "none"), {**network, "dropout": rate})
            for backbone in BACKBONES
            for network in (
                *NETWORKS[:1],
                *({**n, **NARROW.get(backbone, {})} for n in NETWORKS[1:]),
            )
            for rate in DROPOUT
        ]
        cases += [
            (Method("gcn", name), {**own, **NETWORKS[0], "dropout": rate})
            for name, own in PENALTIES
            for rate in DROPOUT
        ]
        for method, params in cases:
            params = method.complete(params)
            yield {
                "graph": subject.graph.name + (" dense" if subject.size.dense else ""),
                "backbone": method.backbone,
                "regularizer": method.regularizer,
                "kind": "random" if is_random(params) else "still",
                "work": work(method.backbone, params, subject.size),
                "added": added_work(method.regularizer, params, subject.size),
                "seconds": subject.seconds(method, params),
            }
        print(f"{subject.graph.name}: {len(cases)} trainings measured", flush=True)


def fitted(
    works: list[dict[str, float]], seconds: list[float], scale: list[float]
) -> dict[str, float]:
    """Nanoseconds per unit of each term, none negative, by least squares of errors / scale."""
    terms = [term for term in works[0] if any(row[term] for row in works)]
    matrix = np.array([[row[term] for term in terms] for row in works])
    weight = 1 / np.array(scale)
    units = matrix.max(axis=0)
    found, _ = nnls(matrix / units * weight[:, None], np.array(seconds) * weight)
    costs = 1e9 * found / units
    return {term: float(f"{cost:.3g}") for term, cost in zip(terms, costs, strict=True) if cost}


def table_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The costs of backbones, and of what regularizers add to them."""
    plain = [row for row in rows if row["regularizer"] == "none"]
    table: dict[str, Any] = {"backbones": {}, "regularizers": {}}
    for backbone in BACKBONES:
        table["backbones"][backbone] = {}
        for kind in ("still", "random"):
            own = [row for row in plain if (row["backbone"], row["kind"]) == (backbone, kind)]
            seconds = [row["seconds"] for row in own]
            costs = fitted([row["work"] for row in own], seconds, seconds)
            table["backbones"][backbone][kind] = costs
    for name in dict(PENALTIES):
        own = [row for row in rows if row["regularizer"] == name]
        more = [max(row["seconds"] - _plain(table, row), 0.0) for row in own]
        costs = fitted([row["added"] for row in own], more, [row["seconds"] for row in own])
        table["regularizers"][name] = costs
    return table


def _plain(table: dict[str, Any], row: dict[str, Any]) -> float:
    costs = table["backbones"][row["backbone"]][row["kind"]]
    return 1e-9 * sum(cost * row["work"][term] for term, cost in costs.items())


def _told(table: dict[str, Any], row: dict[str, Any]) -> float:
    added = table["regularizers"].get(row["regularizer"], {})
    return _plain(table, row) + 1e-9 * sum(c * row["added"][term] for term, c in added.items())


def selected_epochs() -> dict[str, dict[float, int]]:
    """Of each backbone, by learning rate: the mean over graphs of the epoch that is selected."""
    graphs = {name: Subject(load(name)) for name in LEARNED if _is_here(name)}
    found: dict[str, dict[float, int]] = {}
    for backbone in BACKBONES:
        chosen = [graphs[name] for name in LEARNED_SLOWLY.get(backbone, graphs) if name in graphs]
        for rate in RATES:
            params = [{"lr": rate, "weight_decay": 5e-4, "dropout": drop} for drop in DROPOUT]
            method = Method(backbone, "none")
            epochs = [graph.selected(method, own) for graph in chosen for own in params]
            found.setdefault(backbone, {})[rate] = max(round(fmean(epochs)), 1)
        print(f"{backbone}: epochs selected {found[backbone]}", flush=True)
    return found


def _is_here(name: str) -> bool:
    return dataset_named(name).source is None or locate(name) is not None


def errors(table: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    """How many times too long or too short the table tells, by backbone and by regularizer."""
    for column in ("backbone", "regularizer", "graph"):
        for name in dict.fromkeys(row[column] for row in rows):
            own = [row for row in rows if row[column] == name]
            ratios: NDArray[np.float64] = np.array([_told(table, r) / r["seconds"] for r in own])
            off = np.exp(np.abs(np.log(ratios)))
            middle = f"{median(ratios):6.2f} x, off by {median(off):.2f}"
            yield f"{name:<24}{middle}, at most {off.max():.2f}"


@click.command()
@click.option("--out", default=TABLE, show_default=True, type=Path)
@click.option(
    "--measurements",
    default="benchmarks/results/epoch_costs.json",
    show_default=True,
    type=Path,
    help="Where measurements are kept; if they are there, they are fitted again.",
)
def main(out: Path, measurements: Path) -> None:
    """Measure, fit, and write the table."""
    import torch

    torch.set_num_threads(1)
    assert set(dict(PENALTIES)) | {"none", "adagraph"} == set(REGULARIZERS)
    warm_up()
    if not measurements.exists():
        measurements.parent.mkdir(parents=True, exist_ok=True)
        found = {"rows": list(measured()), "selected": selected_epochs()}
        measurements.write_text(json.dumps(found))
    kept = json.loads(measurements.read_text())
    rows = kept["rows"]
    table = {**table_of(rows), "selected": kept["selected"]}
    out.write_text(json.dumps({"about": ABOUT, **table}, indent=1) + "\n")
    print(*errors(table, rows), f"written to {out}", sep="\n")


if __name__ == "__main__":
    main()
