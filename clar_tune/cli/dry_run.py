"""``clar-tune run --dry-run``: what would be done, and how long it would take."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.failures import one_line
from clar_tune.cluster import GIB

if TYPE_CHECKING:
    from clar_tune.cluster import Launch
    from clar_tune.graphs import Graph
    from clar_tune.search import Estimate
    from clar_tune.space import Plan


def show_plan(plan: Plan, launch: Launch, *, as_json: bool) -> None:
    """Print studies, trainings and the estimated time; nothing is stored or downloaded."""
    from clar_tune.cluster import prepare
    from clar_tune.search import EPOCHS, estimates, needs

    prepare(launch.address)
    from clar_tune.cluster import Asha

    graphs = _graphs_here(plan, launch)
    with one_line():
        found = estimates(plan, graphs, Asha)
    workers = _workers(launch)
    memory = needs(plan, graphs.values(), launch.resources().gpus)
    lines = [
        {
            **_line(graph, [e for e in found if e.study.columns.graph == graph], workers),
            "memory": memory.get(graph),
        }
        for graph in plan.graphs
    ]
    result = {
        "space": plan.space.name,
        "settings": plan.options.settings,
        "studies": len(plan.studies),
        "workers": workers,
        "epochs_assumed": EPOCHS,
        "graphs": lines,
    }
    for name in ("trainings_at_most", "trainings_expected", "seconds"):
        known = [line[name] for line in lines if line[name] is not None]
        result[name] = sum(known) if known else None
    result["memory"] = max(memory.values(), default=None)
    if as_json:
        click.echo(json.dumps(result, indent=2))
    else:
        _print(plan, result)


def _workers(launch: Launch) -> int:
    """Trials at once: those that this machine holds, or that a cluster is said to hold."""
    if launch.address != "local" and launch.max_concurrent:
        return launch.max_concurrent
    import torch

    here = launch.resources().slots(os.cpu_count() or 1, torch.cuda.device_count())
    return max(1, min(here, launch.max_concurrent or here))


def _graphs_here(plan: Plan, launch: Launch) -> dict[str, Graph]:
    from clar_tune.cluster import load_graphs
    from clar_tune.graphs import dataset_named, locate

    def here(name: str) -> bool:
        return dataset_named(name).source is None or locate(name, launch.data) is not None

    return load_graphs(plan, launch.data, list(filter(here, plan.graphs)))


def _line(graph: str, found: list[Estimate], workers: int) -> dict[str, Any]:
    totals = [e.total for e in found if e.total is not None]
    return {
        "graph": graph,
        "studies": len(found),
        "trainings_at_most": sum(e.trainings_at_most for e in found),
        "trainings_expected": round(sum(e.trainings_expected for e in found)),
        "seconds": sum(totals) / workers if totals else None,
    }


def _print(plan: Plan, result: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from clar_tune.analysis import duration
    from clar_tune.cli.output import console

    rules, finals = plan.studies[0].rules, plan.studies[0].finals
    search = f"{rules.trials} trials by {rules.sampler}, up to {rules.repeats} repeats"
    if not any(study.has_search for study in plan.studies):
        search = "nothing to search"
    click.echo(
        f"{result['studies']} studies of {result['space']} ({result['settings']}): each "
        f"{search}, {finals} finals"
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
            "not here" if seconds is None else duration(seconds),
            "" if memory is None else f"{memory / GIB:.1f} GiB",
        )
    console().print(table)
    console().print(
        f"Time on {result['workers']} workers like this machine's, from a few epochs of every "
        f"method, for {result['epochs_assumed']} epochs a training. Expected trainings are those "
        "of a search whose scores are pure chance. Memory is what a trial asks a machine for. "
        "Nothing was stored."
    )
