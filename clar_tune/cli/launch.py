"""What `run`, `resume` and `extend` share: where they run, what they show, how they end."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
from click.core import ParameterSource

from clar_tune.cli.options import Duration

if TYPE_CHECKING:
    from clar_tune.cluster import Launch, Resources
    from clar_tune.graphs import Graph
    from clar_tune.search import Course
    from clar_tune.space import Plan
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
    from clar_tune.cluster import Launch, Resources

    usual = usual or Resources()
    cpus, gpus = given.pop("cpus_per_trial"), given.pop("gpus_per_trial")
    resources = Resources(
        usual.cpus if cpus is None else cpus, usual.gpus if gpus is None else gpus
    )
    names = ("address", "max_concurrent", "time_budget", "data")
    return Launch(resources=resources, **{name: given.pop(name) for name in names})


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
