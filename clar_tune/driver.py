"""Drives a run from its first job to its last, on Ray, into a store."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from clar_tune.conductor import Conductor, Pace
from clar_tune.datasets import load
from clar_tune.errors import GraphError, StoreError
from clar_tune.graph import Graph
from clar_tune.machine import machine, versions
from clar_tune.plan import Options, Plan, make_plan
from clar_tune.resources import Resources
from clar_tune.rows import RunRow
from clar_tune.search.environment import prepare
from clar_tune.space import parse_space
from clar_tune.store import RunWriter, Store
from clar_tune.version import NUMBERS_VERSION

View = Callable[[Conductor], None]
"""Shows the state of a run; called several times a second."""

NEEDED = ("graph", "method", "condition", "search", "trial", "repeat", "seconds")
"""Columns of trainings that rebuilding a run needs, besides scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Where, and for how long, a driver works; nothing here decides a number."""

    address: str = "local"
    resources: Resources = Resources()
    max_concurrent: int | None = None
    time_budget: float | None = None
    data: Path | None = None


def load_graphs(plan: Plan, data: Path | None) -> dict[str, Graph]:
    """Every graph of a plan; a missing or damaged one fails before any work."""
    return {name: load(name, plan.space.preprocessing, data) for name in plan.graphs}


def check_room(launch: Launch) -> None:
    """Refuse what this machine cannot hold before anything is stored; a cluster is asked later."""
    if launch.address == "local":
        prepare(launch.address)
        from clar_tune.search.cluster import Node, workers

        here = Node(cpus=os.cpu_count() or 1, gpus=torch.cuda.device_count())
        workers([here], launch.resources, launch.max_concurrent)


def manifest(plan: Plan, graphs: Mapping[str, Graph]) -> RunRow:
    """What a run writes down about itself before it starts."""
    joined = {
        name: ",".join(dict.fromkeys(str(getattr(s.columns, name)) for s in plan.studies))
        for name in ("graph", "method", "backbone", "regularizer", "condition", "protocol")
    }
    return RunRow(
        **joined,
        space=plan.space.name,
        settings=plan.options.settings,
        search=plan.options.searches,
        state="running",
        started=datetime.now(UTC),
        ended=None,
        seconds=0.0,
        seed=plan.options.seed,
        numbers=NUMBERS_VERSION,
        space_text=plan.space.text,
        options=plan.options.to_json(),
        budget=budget(plan),
        graph_hashes=json.dumps({name: graph.hash for name, graph in graphs.items()}),
        versions=json.dumps(versions(), sort_keys=True),
        machine=json.dumps(machine(), sort_keys=True),
    )


def budget(plan: Plan) -> str:
    """What every study of a plan gets, as the manifest keeps it."""
    study = plan.studies[0]
    values = {**asdict(study.rules), "finals": study.finals, "searches": plan.options.searches}
    return json.dumps({**values, **asdict(study.training)}, sort_keys=True)


def plan_of(name: str, row: RunRow) -> Plan:
    """The plan of a stored run, from its manifest alone."""
    space = parse_space(row.space_text, row.space, f"manifest of {name}")
    return make_plan(space, Options.from_json(row.options))


def check_numbers(name: str, row: RunRow) -> None:
    """Refuse to add rows that cannot be compared with those of a run."""
    if row.numbers != NUMBERS_VERSION:
        raise StoreError(
            f"{name}: its numbers are of version {row.numbers}, this program makes version "
            f"{NUMBERS_VERSION}. Install clar-tune {json.loads(row.versions)['clar-tune']} to go "
            "on with it, or start a new run."
        )


def check_graphs(graphs: Mapping[str, Graph], row: RunRow) -> None:
    """Refuse to go on with graphs that are not those a run began with."""
    for name, expected in json.loads(row.graph_hashes).items():
        if graphs[name].hash != expected:
            raise GraphError(
                f"{name}: its content is {graphs[name].hash}, the run began with {expected}. "
                "Give the former files with --data, or start a new run."
            )


def drive(
    store: Store,
    writer: RunWriter,
    plan: Plan,
    graphs: dict[str, Graph],
    launch: Launch,
    view: View,
) -> Conductor:
    """Do what is left of a run; its state is stored whatever happens."""
    began, state = time.monotonic(), "interrupted"
    before = writer.row.seconds
    pace = Pace(deadline=None if launch.time_budget is None else began + launch.time_budget)
    try:
        with _interruptible(pace):
            conductor = _conducted(store, writer, plan, graphs, launch, view, pace)
        state = conductor.state
    finally:
        spent = time.monotonic() - began
        writer.close(state=state, ended=datetime.now(UTC), seconds=before + spent)
    return conductor


def _conducted(
    store: Store,
    writer: RunWriter,
    plan: Plan,
    graphs: dict[str, Graph],
    launch: Launch,
    view: View,
    pace: Pace,
) -> Conductor:
    prepare(launch.address)
    import ray

    from clar_tune.search.cluster import connected, workers
    from clar_tune.search.rungs import Rungs
    from clar_tune.search.tuning import search

    # Ray takes SIGTERM for itself when it starts: listen again.
    with connected(launch.address) as nodes, _interruptible(pace):
        pace.workers = workers(nodes, launch.resources, launch.max_concurrent)
        metrics = {name: graph.metric for name, graph in graphs.items()}
        conductor = Conductor(plan, metrics, writer.append, Rungs, pace)
        _restore(conductor, store, writer.name)
        # As arrays in the object store graphs are shared by all workers of a machine.
        shared = {name: ray.put(graphs.pop(name)) for name in list(graphs)}

        def tick() -> None:
            writer.tick()
            view(conductor)

        search(conductor, shared, launch.resources, tick)
        view(conductor)
    return conductor


def _restore(conductor: Conductor, store: Store, run: str) -> None:
    trials = store.trials(run)
    if trials:
        repeats = store.repeats(run, [*NEEDED, "val_score", "val_loss"])
        finals = store.finals(run, [*NEEDED, "test_score"])
        conductor.restore(trials, _rows(repeats), _rows(finals))


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches():
        yield from batch.to_pylist()


@contextmanager
def _interruptible(pace: Pace) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM drains, the second stops at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        if pace.draining:
            raise KeyboardInterrupt
        pace.draining = True

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
