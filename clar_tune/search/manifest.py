"""What a run writes down about itself, and how a plan is made of it again."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from clar_tune.errors import GraphError, StoreError
from clar_tune.graphs import Graph, known_facts
from clar_tune.records import from_stored, to_stored
from clar_tune.rows import RunRow, environments
from clar_tune.space import Options, Plan, make_plan, parse_space
from clar_tune.version import NUMBERS_VERSION

JOINED = ("graph", "method", "backbone", "regularizer", "condition", "protocol")
"""Columns of studies that hold all values of a run, joined by commas."""


def manifest_of(plan: Plan, graphs: Mapping[str, Graph]) -> RunRow:
    """The row of a run that begins."""
    joined: dict[str, Any] = {
        name: ",".join(dict.fromkeys(str(getattr(s.columns, name)) for s in plan.studies))
        for name in JOINED
    }
    return RunRow(
        **joined,
        space=plan.space.name,
        settings=plan.options.settings,
        search=plan.options.replicates,
        state="running",
        started=datetime.now(UTC),
        ended=None,
        seconds=0.0,
        seed=plan.options.seed,
        numbers=NUMBERS_VERSION,
        space_text=plan.space.text,
        **plan_columns(plan),
        graph_hashes={name: graph.hash for name, graph in graphs.items()},
        versions=versions(),
        machine=machine(),
        studies=_studies(plan),
        paper=plan.space.paper,
        columns=plan.space.columns or None,
        correlate=plan.space.correlate.content if plan.space.correlate else None,
        margin=plan.space.margin,
    )


def _studies(plan: Plan) -> list[tuple[str, str, str]]:
    columns = [study.columns for study in plan.studies]
    return list(dict.fromkeys((c.graph, c.condition, c.method) for c in columns))


def plan_columns(plan: Plan) -> dict[str, Any]:
    """What the manifest says of a plan; an extended one says it anew."""
    return {
        "options": to_stored(plan.options),
        "budget": budget_of(plan),
        # Repeated searches are alike.
        "study_plans": [to_stored(s.planned) for s in plan.studies if not s.columns.search],
        "graph_facts": {name: to_stored(known_facts(name)) for name in plan.graphs},
    }


def budget_of(plan: Plan) -> dict[str, Any]:
    """What the studies of a plan get, as a rule; ``study_plans`` tells what each has of it."""
    settings = plan.settings
    precision = {"precision": to_stored(settings.precision)} if settings.precision else {}
    return {
        **to_stored(settings.search),
        **to_stored(settings.training),
        "studies": len(plan.studies),
        "finals": settings.finals,
        **precision,
        "searches": plan.options.replicates,
    }


def plan_of(name: str, row: RunRow) -> Plan:
    """The plan of a stored run, from its manifest alone."""
    space = parse_space(row.space_text, row.space, f"manifest of {name}")
    try:
        options = from_stored(Options, row.options)
    except (TypeError, KeyError) as error:
        raise StoreError(
            f"{name}: its options are those of another version ({error}). "
            f"Install clar-tune {_version(row)} to go on with it."
        ) from error
    return make_plan(space, options).begun_as(row.planned)


def with_this_driver(row: RunRow) -> list[Sequence[Any]]:
    """The later drivers of a run once one goes on here and now."""
    last, later = environments(row)[-1], list(row.drivers)
    if (last.versions, last.machine) != (versions(), machine()):
        later.append((datetime.now(UTC).isoformat(), versions(), machine()))
    return later


def check_numbers(name: str, row: RunRow) -> None:
    """Refuse to add rows that cannot be compared with those of a run."""
    if row.numbers != NUMBERS_VERSION:
        raise StoreError(
            f"{name}: its numbers are of version {row.numbers}, this program makes version "
            f"{NUMBERS_VERSION}. Install clar-tune {_version(row)} to go on with it, or start a "
            "new run."
        )


def check_graphs(graphs: Mapping[str, Graph], row: RunRow) -> None:
    """Refuse to go on with graphs that are not those a run began with."""
    for name, expected in row.graph_hashes.items():
        if graphs[name].hash != expected:
            raise GraphError(
                f"{name}: its content is {graphs[name].hash}, the run began with {expected}. "
                "Give the former files with --data, or start a new run."
            )


def _version(row: RunRow) -> str:
    return row.versions.get("clar-tune", "of then")


PACKAGES = (
    *("clar-tune", "ray", "optuna", "torch", "torch-geometric"),
    *("pyarrow", "numpy", "scipy", "duckdb", "numba"),
)


def versions() -> dict[str, str]:
    """Python and every package that numbers or rows depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, str | int]:
    """The computer, as far as numbers and times depend on it."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "processors": os.cpu_count() or 1,
        "gpus": ", ".join(torch.cuda.get_device_name(number) for number in range(gpus)),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            lines = [line for line in file if line.startswith("model name")]
    except OSError:
        lines = []
    return lines[0].partition(":")[2].strip() if lines else platform.processor()
