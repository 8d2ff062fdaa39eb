"""``clar-tune run --dry-run``: what would be done, and how long it would take."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.failures import one_line
from clar_tune.cluster import GIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clar_tune.cluster import Launch
    from clar_tune.graphs import Graph
    from clar_tune.records import Pace
    from clar_tune.search import Estimate
    from clar_tune.space import Plan


def show_plan(plan: Plan, launch: Launch, store: str, *, probe: bool, as_json: bool) -> None:
    """Print studies, trainings and the estimated time; nothing is stored or downloaded.

    ``probe`` trains a few epochs of every method on the graphs that are here.
    """
    from functools import cache

    from clar_tune.search import Size, estimates, machine_factor, needs_of_sizes, probed_epochs

    sizes = {name: Size.known(name, plan.settings.preprocessing) for name in plan.graphs}
    factor = cache(machine_factor)
    stored = {} if probe else _stored(plan, launch, store)
    tried = _tried(plan, stored, every=probe)
    graphs = _graphs_here(plan, launch, {plan.studies[n].columns.graph for n in tried})
    with one_line():
        probed = probed_epochs(plan, graphs, tried) if tried else {}
        found = estimates(plan, sizes, factor, stored, probed)
    workers = _workers(launch)
    memory = needs_of_sizes(plan, sizes, launch.resources().gpus)
    lines = [
        {
            **_line(graph, [e for e in found if e.study.columns.graph == graph], workers),
            "memory": memory[graph],
        }
        for graph in plan.graphs
    ]
    result = {
        "space": plan.space.name,
        "settings": plan.options.settings,
        "studies": len(plan.studies),
        "workers": workers,
        "epochs_assumed": _epochs(found),
        "sources": _sources(found),
        "stored_runs": max((pace.runs for pace in stored.values()), default=0),
        "machine": factor() if factor.cache_info().currsize else None,
        "graphs": lines,
    }
    for name in ("trainings_at_most", "trainings_expected", "seconds"):
        result[name] = sum(line[name] for line in lines)
    result["memory"] = max(memory.values())
    if as_json:
        click.echo(json.dumps(result, indent=2))
    else:
        _print(plan, result)


def _stored(plan: Plan, launch: Launch, store: str) -> dict[tuple[str, str, str], Pace]:
    """What runs of the store tell of the plan's studies."""
    from clar_tune.analysis import paces
    from clar_tune.search import machine
    from clar_tune.store import Store

    return paces(
        Store.open(store),
        [study.planned for study in plan.studies],
        machine(),
        threads=plan.options.threads,
        gpu=bool(launch.resources().gpus),
    )


def _tried(plan: Plan, stored: dict[tuple[str, str, str], Pace], *, every: bool) -> list[int]:
    """Numbers of the studies to be probed: all, or those of which nothing else tells."""
    from clar_tune.search import is_own

    return [
        number
        for number, study in enumerate(plan.studies)
        if every or (is_own(study) and study.place not in stored)
    ]


def _workers(launch: Launch) -> int:
    """Trials at once: those that this machine holds, or that a cluster is said to hold."""
    if launch.address != "local" and launch.max_concurrent:
        return launch.max_concurrent
    import torch

    here = launch.resources().slots(os.cpu_count() or 1, torch.cuda.device_count())
    return max(1, min(here, launch.max_concurrent or here))


def _graphs_here(plan: Plan, launch: Launch, names: set[str]) -> dict[str, Graph]:
    from clar_tune.cluster import load_graphs
    from clar_tune.graphs import dataset_named, locate

    def here(name: str) -> bool:
        return dataset_named(name).source is None or locate(name, launch.data) is not None

    return load_graphs(plan, launch.data, list(filter(here, names)))


def _line(graph: str, found: Sequence[Estimate], workers: int) -> dict[str, Any]:
    return {
        "graph": graph,
        "studies": len(found),
        "trainings_at_most": sum(e.trainings_at_most for e in found),
        "trainings_expected": round(sum(e.trainings_expected for e in found)),
        "seconds": sum(e.total for e in found) / workers,
        "epochs": _epochs(found),
        "sources": _sources(found),
    }


def _epochs(found: Sequence[Estimate]) -> int:
    """Epochs of an average training."""
    trainings = sum(e.trainings_expected for e in found)
    return round(sum(e.epochs * e.trainings_expected for e in found) / trainings)


def _sources(found: Sequence[Estimate]) -> dict[str, int]:
    """How many studies each source tells of."""
    return dict(Counter(e.source for e in found))


def _print(plan: Plan, result: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from clar_tune.analysis import duration, finals_told, repeats_told
    from clar_tune.cli.output import console
    from clar_tune.search import budget_of

    budget = budget_of(plan)
    repeats, others = repeats_told(budget, [study.planned for study in plan.studies])
    search = f"{budget['trials']} trials by {budget['sampler']}, up to {repeats} repeats{others}"
    if not any(study.has_search for study in plan.studies):
        search = "nothing to search"
    click.echo(
        f"{result['studies']} studies of {result['space']} ({result['settings']}): each "
        f"{search}, {finals_told(budget)}{_arms(plan)}"
    )
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("graph")
    for column in ("studies", "trainings at most", "expected", "time", "memory"):
        table.add_column(column, justify="right")
    for line in [*result["graphs"], {**result, "graph": "all"}]:
        seconds, memory = line["seconds"], line["memory"]
        table.add_row(
            line["graph"],
            str(line["studies"]),
            f"{line['trainings_at_most']:,}",
            f"{line['trainings_expected']:,}",
            duration(seconds),
            f"{memory / GIB:.1f} GiB",
        )
    console().print(table)
    console().print(
        f"Time on {result['workers']} workers like this machine's, for {result['epochs_assumed']} "
        f"epochs a training on average; an epoch's time is {_origin(result)}. Expected trainings "
        "are those of a search whose scores are pure chance. Memory is what a trial asks a "
        "machine for. Nothing was stored."
    )


def _arms(plan: Plan) -> str:
    """In how many arms the finals of the study with most of them are trained."""
    most = 1 + max(len(study.arms) for study in plan.studies)
    return f" in up to {most} arms" if most > 1 else ""


def _origin(result: dict[str, Any]) -> str:
    """Where the times of epochs come from, with the number of studies if it is not one place."""
    from clar_tune.analysis import counted

    factor = result["machine"] or 1.0
    words = {
        "probed": "probed",
        "stored": f"from {counted(result['stored_runs'], 'stored run')}",
        "table": f"from a table, this machine is {1 / factor:.1f} x as fast",
        "nearest": "from a table for gcn, as a method of your own can be tried only on graphs "
        "that are here",
    }
    sources = {name: result["sources"][name] for name in words if name in result["sources"]}
    if len(sources) == 1:
        return words[next(iter(sources))]
    return "; ".join(f"{words[name]} ({counted(n, 'study')})" for name, n in sources.items())
