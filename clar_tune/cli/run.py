"""``clar-tune run``, ``resume`` and ``extend``: plan, search, confirm, store, compare."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
from click.core import ParameterSource

from clar_tune.cli.options import Duration, store_option
from clar_tune.cluster import Resources
from clar_tune.errors import ParameterError

if TYPE_CHECKING:
    from clar_tune.cluster import Launch
    from clar_tune.graphs import Graph
    from clar_tune.search import Course
    from clar_tune.space import Options, Plan
    from clar_tune.store import RunWriter, Store

Command = Callable[..., None]

EXIT_CODES = {"finished": 0, "paused": 0, "incomplete": 3, "interrupted": 130}


class Ended(NamedTuple):
    """A run after its driver has done its work."""

    store: Store
    name: str
    state: str
    lacks: list[str]
    """What studies without a winner or without all finals lack."""


def launch_options(command: Command) -> Command:
    """Options that say where, and for how long, a command works."""
    for option in reversed(
        [
            click.option("--time-budget", type=Duration(), help="Pause after 90s, 30m, 2h …"),
            click.option(
                "--address",
                default="local",
                show_default=True,
                callback=_prepared,
                help="Ray cluster: local; auto or HOST:PORT on one of its machines.",
            ),
            click.option("--cpus-per-trial", type=float, help="Processors.  [default: 1]"),
            click.option(
                "--gpus-per-trial",
                type=float,
                help="0 for none, 1, or a fraction that fills a device: 0.5, 0.33, 0.25 … "
                "Memory of the device is shared accordingly.  [default: 0]",
            ),
            click.option("--max-concurrent", type=click.IntRange(1), help="Most trials at once."),
            click.option(
                "--data", type=click.Path(path_type=Path), help="Folder with raw graphs."
            ),
        ]
    ):
        command = option(command)
    return command


def _prepared(context: click.Context, parameter: click.Parameter, address: str) -> str:
    """The address; Ray's settings are made at once, as a module of the user's may import Ray."""
    from clar_tune.cluster import prepare

    if not context.resilient_parsing:
        prepare(address)
    return address


def output_options(command: Command) -> Command:
    """Options that say what a command shows."""
    quiet = click.option("--quiet", is_flag=True, help="No progress.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    return quiet(as_json(command))


def launch_from(given: dict[str, Any], usual: Resources | None = None) -> Launch:
    """The launch options of a command, taken out of what it was given.

    ``usual`` are the resources that a stored run had before.
    """
    from clar_tune.cluster import Launch

    usual = usual or Resources()
    cpus, gpus = given.pop("cpus_per_trial"), given.pop("gpus_per_trial")
    resources = Resources(
        usual.cpus if cpus is None else cpus, usual.gpus if gpus is None else gpus
    )
    names = ("address", "max_concurrent", "time_budget", "data")
    return Launch(resources=resources, **{name: given.pop(name) for name in names})


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names; an empty one is refused."""
        names = tuple(name.strip() for name in str(value).split(","))
        if not all(names):
            self.fail(f"{value!r}: write names separated by commas.", param, ctx)
        return names


@click.command()
@click.option("--space", "space_name", required=True, help="Shipped space, or a YAML file.")
@click.option("--graphs", type=Names(), metavar="A,B", help="Only these graphs.")
@click.option("--methods", type=Names(), metavar="A,B", help="Only these methods.")
@click.option(
    "--conditions", type=Names(), metavar="K=V,K=V", help="Only these values of a sweep."
)
@click.option("--trials", type=click.IntRange(1), help="Configurations per study.")
@click.option("--repeats", type=click.IntRange(1), help="Trainings of a trial that is not pruned.")
@click.option("--finals", type=click.IntRange(1), help="Trainings of each winner on fresh splits.")
@click.option("--searches", type=click.IntRange(1), default=1, help="Repeat every search.")
@click.option("--sampler", type=click.Choice(["tpe", "gp", "random", "grid"]))
@click.option("--no-pruning", is_flag=True, help="Train every repeat of every trial.")
@click.option(
    "--selection", type=click.Choice(["loss", "accuracy"]), help="How epochs are selected."
)
@click.option(
    "--outer-test",
    type=float,
    default=0.0,
    metavar="FRACTION",
    help="Test nodes that no search split may hold.",
)
@click.option("--settings", default="tuned", show_default=True, help="tuned, or paper.")
@click.option("--protocol", help="How to split, instead of what the space says.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--trial-timeout",
    type=Duration(),
    default="30m",
    show_default=True,
    help="Longest time of one trial.",
)
@click.option("--name", help="Name of the run.  [default: <space>-<date>-<4 letters>]")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and how long it takes.")
@launch_options
@store_option
@output_options
def run(
    space_name: str,
    name: str | None,
    dry_run: bool,
    no_pruning: bool,
    store: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Search a space, confirm every winner on fresh splits, and print the comparison.

    Ctrl-C finishes the trainings under way and stores them; `clar-tune resume` goes on.
    Exit codes: 0 done, or paused by the time budget; 1 an error; 2 wrong usage; 3 ended, but a
    study has no winner or not all finals; 130 interrupted.

    \b
    Examples:
      clar-tune run --space quickstart
      clar-tune run --space heterophily --graphs texas,cornell --trials 12 --time-budget 30m
    """  # noqa: D301
    from clar_tune.space import load_space, make_plan
    from clar_tune.store import Store

    launch = launch_from(given)
    options = options_from(given, launch.resources, no_pruning)
    plan = make_plan(load_space(space_name), options)
    if dry_run:
        from clar_tune.cli.dry_run import show_plan

        show_plan(plan, launch, as_json=as_json)
        return
    conclude(start(Store.open(store), plan, name, launch, quiet=quiet), as_json=as_json)


def options_from(given: dict[str, Any], resources: Resources, no_pruning: bool) -> Options:
    """The options of a run among what its command was given."""
    from clar_tune.space import Options

    names = {field.name for field in dataclasses.fields(Options)} & set(given)
    values = {name: given[name] for name in names}
    return Options(
        **values,
        threads=resources.threads,
        cpus=resources.cpus,
        gpus=resources.gpus,
        pruning=False if no_pruning else None,
    )


class More(click.ParamType[int]):
    """``+20`` or ``20``: so many more."""

    name = "more"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """How many more; at least one."""
        text = str(value).removeprefix("+")
        if not text.isdecimal() or int(text) < 1:
            self.fail(f"{value!r}: write how many more, such as +20.", param, ctx)
        return int(text)


@click.command()
@click.argument("run")
@launch_options
@store_option
@output_options
def resume(run: str, store: str, quiet: bool, as_json: bool, **given: Any) -> None:
    """Finish a run that was interrupted, paused or cut off.

    RUN is a name, the beginning of one, or `latest`. Nothing that was stored is trained again;
    the space is the one that the run began with, whatever the file says now.

    \b
    Example:
      clar-tune resume latest --time-budget 30m
    """  # noqa: D301
    _go_on(run, store, {}, given, quiet=quiet, as_json=as_json)


@click.command()
@click.argument("run")
@click.option("--trials", type=More(), metavar="+N", help="More configurations per study.")
@click.option("--finals", type=More(), metavar="+N", help="More trainings of each winner.")
@launch_options
@store_option
@output_options
def extend(
    run: str,
    trials: int | None,
    finals: int | None,
    store: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Give a run more trials or finals.

    Where the winner stays, its finals stay; a new winner is confirmed anew.

    \b
    Example:
      clar-tune extend latest --trials +20 --finals +10
    """  # noqa: D301
    if not trials and not finals:
        raise click.UsageError("say what to add: --trials +20, --finals +10, or both.")
    more = {"trials": trials or 0, "finals": finals or 0}
    _go_on(run, store, more, given, quiet=quiet, as_json=as_json)


def _go_on(
    run: str,
    url: str,
    more: dict[str, int],
    given: dict[str, Any],
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    from clar_tune.cluster import load_graphs
    from clar_tune.search import check_graphs, check_numbers, plan_of
    from clar_tune.store import Store

    store = Store.open(url)
    stored = store.find(run)
    if stored.row.state == "finished" and not more:
        click.echo(f"{stored.name} is finished: nothing is left to do", err=True)
        conclude(Ended(store, stored.name, "finished", []), as_json=as_json)
        return
    store.check_free(stored.name)
    check_numbers(stored.name, stored.row)
    plan = _extended(plan_of(stored.name, stored.row), more)
    launch = launch_from(given, Resources(plan.options.cpus, plan.options.gpus))
    _check_threads(plan, launch)
    graphs = load_graphs(plan, launch.data)
    check_graphs(graphs, stored.row)

    def reopen(terminal: TextIO) -> RunWriter:
        return _reopened(store, stored.name, plan, terminal)

    ended = work(store, stored.name, reopen, plan, graphs, launch, quiet=quiet)
    conclude(ended, as_json=as_json)


def _reopened(store: Store, name: str, plan: Plan, terminal: TextIO) -> RunWriter:
    from clar_tune.search import budget, graph_facts, study_plans, with_this_driver

    writer = store.reopen(name)
    if writer.lost:
        terminal.write(
            f"at least {writer.lost} rows were never flushed by the last driver: "
            "their trainings are done again\n"
        )
    writer.update(
        state="running",
        ended=None,
        options=plan.options.stored(),
        budget=budget(plan),
        study_plans=study_plans(plan),
        graph_facts=graph_facts(plan),
        drivers=with_this_driver(writer.row),
    )
    return writer


def _check_threads(plan: Plan, launch: Launch) -> None:
    """A run keeps its threads, which decide its last digits, and needs processors for them."""
    if launch.resources.threads < plan.options.threads:
        raise ParameterError(
            f"--cpus-per-trial {launch.resources.cpus:g}: the run trains with "
            f"{plan.options.threads} threads. Give it as many, or start a new run."
        )


def _extended(plan: Plan, more: dict[str, int]) -> Plan:
    """The plan with a larger budget; the start-up of its searches stays what it was."""
    from clar_tune.space import make_plan

    if not more:
        return plan
    study, options = plan.studies[0], plan.options
    changed = replace(
        options,
        trials=study.rules.trials + more["trials"],
        finals=study.finals + more["finals"],
        first_trials=options.first_trials or study.rules.trials,
    )
    return make_plan(plan.space, changed)


def start(store: Store, plan: Plan, name: str | None, launch: Launch, *, quiet: bool) -> Ended:
    """Begin a run and work on it."""
    from clar_tune.cluster import load_graphs
    from clar_tune.search import manifest_of
    from clar_tune.store import fresh_name

    chosen = fresh_name(plan.space.name) if name is None else name
    store.check_new(chosen)
    graphs = load_graphs(plan, launch.data)
    row = manifest_of(plan, graphs)
    return work(
        store, chosen, lambda _: store.create(chosen, row), plan, graphs, launch, quiet=quiet
    )


def work(
    store: Store,
    name: str,
    open_run: Callable[[TextIO], RunWriter],
    plan: Plan,
    graphs: dict[str, Graph],
    launch: Launch,
    *,
    quiet: bool,
) -> Ended:
    """Drive a run; what libraries print goes to a log file.

    ``open_run`` gets the terminal, for what it may have to say.
    """
    from clar_tune.cli.live import view_on
    from clar_tune.cli.output import diverted
    from clar_tune.cluster import drive
    from clar_tune.graphs import cache_folder

    log = cache_folder().parent / "logs" / f"{name}.log"
    if not quiet:
        click.echo(f"run {name} in {store.url}, log in {log}", err=True)
    with diverted(log) as terminal, view_on(terminal, quiet=quiet) as view:
        conductor = drive(store, lambda: open_run(terminal), plan, graphs, launch, view)
    lacks = [
        f"{course.plan.name}: {_lack(course)}"
        for course in conductor.courses
        if conductor.state == "incomplete" and not course.confirmed
    ]
    return Ended(store, name, conductor.state, lacks)


def conclude(ended: Ended, *, as_json: bool) -> None:
    """Print what came out, say what is missing, and exit accordingly."""
    from clar_tune.analysis import compare, read_run
    from clar_tune.cli.output import print_table
    from clar_tune.report import FORMAT, data_of

    comparison = compare([read_run(ended.store, ended.name)])
    if as_json:
        head = {"run": ended.name, "state": ended.state, "format": FORMAT}
        click.echo(json.dumps({**head, "comparison": data_of(comparison)}, indent=2))
    else:
        print_table(comparison)
    for lack in ended.lacks:
        click.echo(f"clar-tune: {lack}", err=True)
    if ended.state in ("paused", "interrupted"):
        click.echo(f"{ended.state}; go on with: {_continuation(ended)}", err=True)
    if EXIT_CODES[ended.state]:
        sys.exit(EXIT_CODES[ended.state])


def _continuation(ended: Ended) -> str:
    """The command that goes on with a run from where this one was typed."""
    from clar_tune.cluster import JOB

    context, submitted = click.get_current_context(), JOB in os.environ
    words = ["clar-tune", *(["submit"] if submitted else []), "resume", ended.name]
    # A submitted run was given the address of its own cluster, and finds it again.
    for option in ("store", "data", *(() if submitted else ("address",))):
        if context.get_parameter_source(option) == ParameterSource.COMMANDLINE:
            words += [f"--{option}", str(context.params[option])]
    return shlex.join(words)


def _lack(course: Course) -> str:
    if course.winner is None:
        return f"no winner, all {len(course.trials)} trials failed"
    return f"{len(course.missing_finals())} of {course.plan.finals} finals failed"
