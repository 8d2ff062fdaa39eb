"""Runs that are gone on with, or given more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from clar_tune.api.driving import driven, open_for_work
from clar_tune.api.stored import Address, Run
from clar_tune.api.watching import Observer, quietly, unobserved
from clar_tune.errors import ParameterError
from clar_tune.validation import whole

if TYPE_CHECKING:
    from clar_tune.cluster import Launch, View
    from clar_tune.space import Options, Plan
    from clar_tune.store import RunWriter, Store, StoredRun

    Say = Callable[[str], None]


def resume(
    run: str | Run,
    *,
    store: Address | None = None,
    launch: Launch | None = None,
    observe: Observer = unobserved,
    say: Say = quietly,
) -> Run:
    """Finish a run that was interrupted, paused or cut off.

    Nothing that was stored is trained again; the space is the one that the run began with.

    Args:
        run: What ``ct.run`` gave, or a name, the beginning of one, or ``latest``.
        store: Directory or bucket that holds it, where only a name is given; by default what
            ``CLAR_TUNE_STORE`` says, then ``./clar-store``.
        launch: Where, and for how long, to work; by default here, until the end.
        observe: What follows the work, such as ``ct.progress``; by default nothing.
        say: Told that the last driver may be alive and is waited for, and what of the user's own
            code is imported; by default nobody is.
    """
    from clar_tune.cluster import Launch

    launch = launch or Launch()
    opened, stored = _found(run, store, launch, say)
    if stored.row.state == "finished":
        return Run(name=stored.name, store=opened, state="finished", worked=False)
    return _continued(opened, stored, lambda plan: plan, launch, observe, say)


def extend(
    run: str | Run,
    *,
    store: Address | None = None,
    trials: int = 0,
    finals: int = 0,
    ablation: bool = False,
    launch: Launch | None = None,
    observe: Observer = unobserved,
    say: Say = quietly,
) -> Run:
    """Give a run more trials or finals, or the arms that it was made without.

    Where the winner stays, its finals stay; a new winner is confirmed anew. More finals are
    another look at the same question: the manifest counts it.

    Args:
        run: What ``ct.run`` gave, or a name, the beginning of one, or ``latest``.
        store: Directory or bucket that holds it, where only a name is given; by default what
            ``CLAR_TUNE_STORE`` says, then ``./clar-store``.
        trials: How many more configurations each study gets.
        finals: How many more trainings each winner gets in each of its arms.
        ablation: Whether winners are confirmed with their penalties switched off as well.
        launch: Where, and for how long, to work; by default here, until the end.
        observe: What follows the work, such as ``ct.progress``; by default nothing.
        say: Told that the last driver may be alive and is waited for, and what of the user's own
            code is imported; by default nobody is.
    """
    from clar_tune.cluster import Launch

    whole("trials", trials, 0)
    whole("finals", finals, 0)
    if not (trials or finals or ablation):
        raise ParameterError("say what to add: trials, finals, or ablation.")
    launch = launch or Launch()
    opened, stored = _found(run, store, launch, say)

    def enlarged(plan: Plan) -> Plan:
        had = _finals_of(opened, stored.name, plan)
        return _enlarged(plan, trials, had + finals if finals else None, ablation=ablation)

    return _continued(opened, stored, enlarged, launch, observe, say, looks=int(finals > 0))


def _found(
    run: str | Run, store: Address | None, launch: Launch, say: Say
) -> tuple[Store, StoredRun]:
    """The store of a run, and what it says of it now."""
    if isinstance(run, Run):
        store, run = run.store.url, run.name
    opened = open_for_work(store, launch, say)
    return opened, opened.find(run)


def _continued(
    store: Store,
    stored: StoredRun,
    changed: Callable[[Plan], Plan],
    launch: Launch,
    observe: Observer,
    say: Say,
    looks: int = 0,
) -> Run:
    """Go on with a stored run by what has become of its plan; ``looks`` are added to its own."""
    from clar_tune.cluster import load_graphs, prepare
    from clar_tune.graphs import Lookup
    from clar_tune.search import check_graphs, check_numbers, import_paths, plan_of

    prepare(launch.address)
    store.check_free(stored.name)
    check_numbers(stored.name, stored.row)
    if paths := import_paths(stored.row):
        say(f"{stored.name} imports {', '.join(paths)}")
    plan = changed(plan_of(stored.name, stored.row, Lookup(launch.data)))
    launch = _as_before(launch, plan.options)
    _check_threads(plan, launch)
    graphs = load_graphs(plan, launch.data)
    check_graphs(graphs, stored.row)

    def reopen(view: View) -> RunWriter:
        return _reopened(store, stored.name, plan, looks, view)

    return driven(store, stored.name, reopen, plan, graphs, launch, observe)


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
