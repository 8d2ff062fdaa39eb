"""New runs: planned, searched, confirmed, stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clar_tune.api.stored import Address, Run, default_address
from clar_tune.api.watching import Observer, quietly, unobserved

if TYPE_CHECKING:
    from clar_tune.cluster import Launch, View
    from clar_tune.graphs import Graph
    from clar_tune.search import StudyState
    from clar_tune.space import Given, Options, Plan
    from clar_tune.store import RunWriter, Store

    Say = Callable[[str], None]
    Record = TypeVar("Record", Options, Launch)


def plan_run(space: Given, options: Options, launch: Launch) -> Plan:
    """What a new run would do, checked as far as that can be done before any work.

    Args:
        space: Name of a shipped space, a YAML file, or what else ``load_space`` takes.
        options: What changes of the space.
        launch: Where it would work; its resources become those of the options.
    """
    from clar_tune.cluster import prepare
    from clar_tune.graphs import Lookup
    from clar_tune.space import make_plan, space_from

    prepare(launch.address)  # first of all, as a module of the user's may import Ray
    given = launch.resources()
    options = replace(options, threads=given.threads, cpus=given.cpus, gpus=given.gpus)
    return make_plan(space_from(space, lookup=Lookup(launch.data)), options)


def run(
    space: Given,
    *,
    graphs: str | Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
    trials: int | None = None,
    repeats: int | None = None,
    finals: int | None = None,
    seed: int | None = None,
    time_budget: float | None = None,
    data: str | PathLike[str] | None = None,
    store: Address | None = None,
    name: str | None = None,
    options: Options | None = None,
    launch: Launch | None = None,
    observe: Observer = unobserved,
) -> Run:
    """Search a space, confirm every winner on fresh splits, and store every number.

    Args:
        space: Name of a shipped space, a YAML file, or what else ``load_space`` takes.
        graphs: Only these graphs of it.
        methods: Only these methods of it.
        trials: Configurations per study.
        repeats: Trainings of a trial that is not pruned.
        finals: Trainings of each winner on fresh splits.
        seed: Of all that is drawn; by default 0.
        time_budget: Seconds after which the run pauses.
        data: Folder with raw graphs.
        store: Directory or bucket that holds the results; by default what ``CLAR_TUNE_STORE``
            says, then ``./clar-store``.
        name: Name of the run; by default space, date and four letters.
        options: What else changes of the space; the arguments above go before it.
        launch: Where else, and with what, to work; by default on this machine.
        observe: What follows the work, such as ``ct.progress``; by default nothing.
    """
    from clar_tune.cluster import Launch, load_graphs
    from clar_tune.search import manifest_of
    from clar_tune.space import Options
    from clar_tune.store import fresh_name

    options = _changed(
        options or Options(),
        graphs=_names(graphs),
        methods=_names(methods),
        trials=trials,
        repeats=repeats,
        finals=finals,
        seed=seed,
    )
    folder = None if data is None else Path(data)
    launch = _changed(launch or Launch(), time_budget=time_budget, data=folder)
    plan = plan_run(space, options, launch)
    opened = open_for_work(store, launch, quietly)
    chosen = fresh_name(plan.space.name) if name is None else name
    opened.check_new(chosen)
    graphs_loaded = load_graphs(plan, launch.data)
    row = manifest_of(plan, graphs_loaded)
    return driven(
        opened, chosen, lambda _: opened.create(chosen, row), plan, graphs_loaded, launch, observe
    )


def _names(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """A text is one name, not its letters."""
    return (given,) if isinstance(given, str) else None if given is None else tuple(given)


def _changed(record: Record, **given: Any) -> Record:
    """A record with the values that are given."""
    return replace(record, **{name: value for name, value in given.items() if value is not None})


def open_for_work(store: Address | None, launch: Launch, say: Say) -> Store:
    """The store, as a driver opens it."""
    from clar_tune.store import Access, Store

    access = Access(launch.take_over, launch.single_driver, say)
    return Store.open(store or default_address(), access=access)


def driven(
    store: Store,
    name: str,
    open_run: Callable[[View], RunWriter],
    plan: Plan,
    graphs: dict[str, Graph],
    launch: Launch,
    observe: Observer,
) -> Run:
    """Drive a run; ``open_run`` gets the view, for what it may have to say."""
    from clar_tune.cluster import drive

    limits = launch.limits()
    with observe(name, store, limits) as view:
        scheduler = drive(store, lambda: open_run(view), plan, graphs, launch, view, limits)
    lacks = {
        study.plan.name: _lack(study)
        for study in scheduler.studies
        if scheduler.state == "incomplete" and not study.confirmed
    }
    return Run(name=name, store=store, state=scheduler.state, lacks=lacks)


def _lack(study: StudyState) -> str:
    if study.winner is None:
        return f"no winner, all {study.asked} trials failed"
    finals = study.finals
    return f"{len(finals.missing())} of {finals.wanted} finals failed"
