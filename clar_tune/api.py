"""What a Python program calls: begin a run, go on with one, give one more.

These functions print nothing, never exit and set no signal handlers; what a user can mend is
raised as an error of ``clar_tune.errors``. Heavy libraries load when a function is called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from clar_tune.errors import ParameterError
from clar_tune.validation import whole

if TYPE_CHECKING:
    from clar_tune.cluster import Launch, View
    from clar_tune.graphs import Graph
    from clar_tune.search import Limits, Scheduler, StudyState
    from clar_tune.space import Options, Plan
    from clar_tune.store import RunWriter, Store, StoredRun

    Say = Callable[[str], None]

Address = str | os.PathLike[str]
"""Directory or URL of a store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """A run after a driver has worked on it."""

    name: str
    store: Store
    state: str
    """``finished``, ``paused`` by the time budget, ``interrupted``, or ``incomplete``."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """What studies of an incomplete run lack, by their names: a winner, or some finals."""
    worked: bool = True
    """Whether anything was left to do."""


class Observer(Protocol):
    """Follows the work on a run."""

    def __call__(self, name: str, store: Store, limits: Limits) -> AbstractContextManager[View]:
        """What shows the run: entered before its driver begins, left when that has ended.

        ``limits.draining`` may be set at any time, from any thread: trainings under way are
        then finished and stored, and nothing new starts.
        """


class _Unseen:
    """Shows nothing."""

    def __call__(self, scheduler: Scheduler) -> None:
        pass

    def close(self, scheduler: Scheduler) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass


def _quietly(text: str) -> None:
    """Tell nobody."""


def _unobserved(name: str, store: Store, limits: Limits) -> AbstractContextManager[View]:
    return nullcontext(_Unseen())


def plan_run(space: str, options: Options, launch: Launch) -> Plan:
    """What a new run would do, checked as far as that can be done before any work.

    Args:
        space: Name of a shipped space, or a YAML file.
        options: What changes of the space.
        launch: Where it would work; its resources become those of the options.
    """
    from clar_tune.cluster import prepare
    from clar_tune.space import load_space, make_plan

    prepare(launch.address)  # first of all, as a module of the user's may import Ray
    given = launch.resources()
    options = replace(options, threads=given.threads, cpus=given.cpus, gpus=given.gpus)
    return make_plan(load_space(space), options)


def run(
    space: str,
    *,
    store: Address,
    name: str | None = None,
    options: Options | None = None,
    launch: Launch | None = None,
    observe: Observer = _unobserved,
) -> RunOutcome:
    """Search a space, confirm every winner on fresh splits, and store every number.

    Args:
        space: Name of a shipped space, or a YAML file.
        store: Directory or bucket that holds the results.
        name: Name of the run; by default space, date and four letters.
        options: What changes of the space: graphs, methods, budgets …
        launch: Where, and for how long, to work; by default here, until the end.
        observe: What follows the work; by default nothing.
    """
    from clar_tune.cluster import Launch, load_graphs
    from clar_tune.search import manifest_of
    from clar_tune.space import Options
    from clar_tune.store import fresh_name

    launch = launch or Launch()
    plan = plan_run(space, options or Options(), launch)
    opened = _opened(store, launch, _quietly)
    chosen = fresh_name(plan.space.name) if name is None else name
    opened.check_new(chosen)
    graphs = load_graphs(plan, launch.data)
    row = manifest_of(plan, graphs)
    return _driven(
        opened, chosen, lambda _: opened.create(chosen, row), plan, graphs, launch, observe
    )


def resume(
    run: str,
    *,
    store: Address,
    launch: Launch | None = None,
    observe: Observer = _unobserved,
    say: Say = _quietly,
) -> RunOutcome:
    """Finish a run that was interrupted, paused or cut off.

    Nothing that was stored is trained again; the space is the one that the run began with.

    Args:
        run: Its name, the beginning of it, or ``latest``.
        store: Directory or bucket that holds it.
        launch: Where, and for how long, to work; by default here, until the end.
        observe: What follows the work; by default nothing.
        say: Told that the last driver may be alive and is waited for; by default nobody is.
    """
    from clar_tune.cluster import Launch

    launch = launch or Launch()
    opened = _opened(store, launch, say)
    stored = opened.find(run)
    if stored.row.state == "finished":
        return RunOutcome(name=stored.name, store=opened, state="finished", worked=False)
    return _continued(opened, stored, lambda plan: plan, launch, observe)


def extend(
    run: str,
    *,
    store: Address,
    trials: int = 0,
    finals: int = 0,
    ablation: bool = False,
    launch: Launch | None = None,
    observe: Observer = _unobserved,
    say: Say = _quietly,
) -> RunOutcome:
    """Give a run more trials or finals, or the arms that it was made without.

    Where the winner stays, its finals stay; a new winner is confirmed anew. More finals are
    another look at the same question: the manifest counts it.

    Args:
        run: Its name, the beginning of it, or ``latest``.
        store: Directory or bucket that holds it.
        trials: How many more configurations each study gets.
        finals: How many more trainings each winner gets in each of its arms.
        ablation: Whether winners are confirmed with their penalties switched off as well.
        launch: Where, and for how long, to work; by default here, until the end.
        observe: What follows the work; by default nothing.
        say: Told that the last driver may be alive and is waited for; by default nobody is.
    """
    from clar_tune.cluster import Launch

    whole("trials", trials, 0)
    whole("finals", finals, 0)
    if not (trials or finals or ablation):
        raise ParameterError("say what to add: trials, finals, or ablation.")
    launch = launch or Launch()
    opened = _opened(store, launch, say)

    def enlarged(plan: Plan) -> Plan:
        had = _finals_of(opened, stored.name, plan)
        return _enlarged(plan, trials, had + finals if finals else None, ablation=ablation)

    stored = opened.find(run)
    return _continued(opened, stored, enlarged, launch, observe, looks=int(finals > 0))


def _opened(store: Address, launch: Launch, say: Say) -> Store:
    from clar_tune.store import Access, Store

    return Store.open(store, access=Access(launch.take_over, launch.single_driver, say))


def _continued(
    store: Store,
    stored: StoredRun,
    changed: Callable[[Plan], Plan],
    launch: Launch,
    observe: Observer,
    looks: int = 0,
) -> RunOutcome:
    """Go on with a stored run by what has become of its plan; ``looks`` are added to its own."""
    from clar_tune.cluster import load_graphs, prepare
    from clar_tune.search import check_graphs, check_numbers, plan_of

    prepare(launch.address)
    store.check_free(stored.name)
    check_numbers(stored.name, stored.row)
    plan = changed(plan_of(stored.name, stored.row))
    launch = _as_before(launch, plan.options)
    _check_threads(plan, launch)
    graphs = load_graphs(plan, launch.data)
    check_graphs(graphs, stored.row)

    def reopen(view: View) -> RunWriter:
        return _reopened(store, stored.name, plan, looks, view)

    return _driven(store, stored.name, reopen, plan, graphs, launch, observe)


def _driven(
    store: Store,
    name: str,
    open_run: Callable[[View], RunWriter],
    plan: Plan,
    graphs: dict[str, Graph],
    launch: Launch,
    observe: Observer,
) -> RunOutcome:
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
    return RunOutcome(name=name, store=store, state=scheduler.state, lacks=lacks)


def _lack(study: StudyState) -> str:
    if study.winner is None:
        return f"no winner, all {study.asked} trials failed"
    finals = study.finals
    return f"{len(finals.missing())} of {finals.wanted} finals failed"


def _reopened(store: Store, name: str, plan: Plan, looks: int, view: View) -> RunWriter:
    from clar_tune.search import plan_columns, with_this_driver

    writer = store.reopen(name)
    if writer.lost:
        view.say(
            f"at least {writer.lost} rows were never flushed by the last driver: "
            "their trainings are done again"
        )
    writer.update(
        state="running",
        ended=None,
        **plan_columns(plan),
        looks=writer.row.looks + looks,
        drivers=with_this_driver(writer.row),
    )
    return writer


def _as_before(launch: Launch, options: Options) -> Launch:
    """The launch with the resources that the run began with, where it names none."""
    return replace(
        launch,
        cpus=options.cpus if launch.cpus is None else launch.cpus,
        gpus=options.gpus if launch.gpus is None else launch.gpus,
    )


def _check_threads(plan: Plan, launch: Launch) -> None:
    """A run keeps its threads, which decide its last digits, and needs processors for them."""
    given = launch.resources()
    if given.threads < plan.options.threads:
        raise ParameterError(
            f"--cpus-per-trial {given.cpus:g}: the run trains with "
            f"{plan.options.threads} threads. Give it as many, or start a new run."
        )


def _finals_of(store: Store, name: str, plan: Plan) -> int:
    """How many finals each winner of a run has; the most of them where precision decided it."""
    study = plan.studies[0]
    if study.precision is None:
        return study.finals
    return max((final.repeat + 1 for final in store.finals(name)), default=study.finals)


def _enlarged(plan: Plan, trials: int, finals: int | None, *, ablation: bool) -> Plan:
    """The plan with a larger budget; the start-up of its searches stays what it was."""
    from clar_tune.space import make_plan

    study, options = plan.studies[0], plan.options
    changed = replace(
        options,
        trials=study.rules.trials + trials if trials else options.trials,
        finals=options.finals if finals is None else finals,
        first_trials=options.first_trials or study.rules.trials,
        ablation=options.ablation or ablation,
    )
    larger = make_plan(plan.space, changed).begun_as(study.planned for study in plan.studies)
    arms = [[one.arms for one in some.studies] for some in (plan, larger)]
    if not trials and not finals and arms[0] == arms[1]:
        raise ParameterError("ablation: its winners have all arms that its space asks for.")
    return larger
