"""``clar-tune run``, ``resume`` and ``extend``: plan, search, confirm, store, compare."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from clar_tune import api
from clar_tune.cli.options import Duration, More, Names, store_option

if TYPE_CHECKING:
    from clar_tune.cluster import Launch, View
    from clar_tune.search import Limits
    from clar_tune.space import Options
    from clar_tune.store import Store

Command = Callable[..., None]

EXIT_CODES = {"finished": 0, "paused": 0, "incomplete": 3, "interrupted": 130}


def launch_options(command: Command) -> Command:
    """Options that say where, and for how long, a command works."""
    for option in reversed(
        [
            click.option("--time-budget", type=Duration(), help="Pause after 90s, 30m, 2h …"),
            click.option(
                "--address",
                default="local",
                show_default=True,
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
            click.option(
                "--single-driver",
                is_flag=True,
                help="Accept a store without conditional writes: you see to it that no second "
                "driver works on the run.",
            ),
        ]
    ):
        command = option(command)
    return command


def take_over_option(command: Command) -> Command:
    """The option of commands that go on with a run."""
    return click.option(
        "--take-over",
        is_flag=True,
        help="Do not wait to see whether the last driver is alive: you know that it is dead.",
    )(command)


def output_options(command: Command) -> Command:
    """Options that say what a command shows."""
    quiet = click.option("--quiet", is_flag=True, help="No progress.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    return quiet(as_json(command))


NOTHING_TO_ADD = "say what to add: --trials +20, --finals +10, --ablation."

OWN = ("space_name", "name", "dry_run", "probe", "store", "quiet", "as_json")
"""Options of ``run`` that decide neither what is planned nor where it is done."""


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
@click.option(
    "--engine",
    type=click.Choice(["auto", "native", "torch"]),
    help="What trains: compiled programs, or torch.  [default: as the space says, or auto: "
    "programs on processors where they can]",
)
@click.option("--settings", default="tuned", show_default=True, help="tuned; or paper, released.")
@click.option(
    "--no-ablation",
    is_flag=True,
    help="Spare the finals that tell what a penalty does: only winners as they are.",
)
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
@click.option("--probe", is_flag=True, help="Let --dry-run time a few epochs of every method.")
@launch_options
@store_option
@output_options
def run(
    space_name: str,
    name: str | None,
    dry_run: bool,
    probe: bool,
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
    launch = launch_from(given)
    options = options_from(given)
    if dry_run:
        from clar_tune.cli.dry_run import show_plan

        plan = api.plan_run(space_name, options, launch)
        show_plan(plan, launch, store, probe=probe, as_json=as_json)
        return
    if probe:
        raise click.UsageError("--probe is for --dry-run: add it, or leave --probe out.")
    outcome = api.run(
        space_name,
        store=store,
        name=name,
        options=options,
        launch=launch,
        observe=_observer(quiet=quiet),
    )
    _conclude(outcome, as_json=as_json)


@click.command()
@click.argument("run")
@take_over_option
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
    launch = launch_from(given)
    _refuse_unused(given)
    outcome = api.resume(run, store=store, launch=launch, observe=_observer(quiet=quiet), say=_say)
    if not outcome.worked:
        click.echo(f"{outcome.name} is finished: nothing is left to do", err=True)
    _conclude(outcome, as_json=as_json)


@click.command()
@click.argument("run")
@click.option("--trials", type=More(), metavar="+N", help="More configurations per study.")
@click.option("--finals", type=More(), metavar="+N", help="More trainings of each winner.")
@click.option(
    "--ablation",
    is_flag=True,
    help="Add what --no-ablation spared: finals with penalties switched off.",
)
@take_over_option
@launch_options
@store_option
@output_options
def extend(
    run: str,
    trials: int | None,
    finals: int | None,
    ablation: bool,
    store: str,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Give a run more trials or finals, or the arms that it was made without.

    Where the winner stays, its finals stay; a new winner is confirmed anew. More finals are
    another look at the same question, which verdicts pay for: the manifest counts it.

    \b
    Example:
      clar-tune extend latest --trials +20 --finals +10
    """  # noqa: D301
    if not (trials or finals or ablation):
        raise click.UsageError(NOTHING_TO_ADD)
    launch = launch_from(given)
    _refuse_unused(given)
    outcome = api.extend(
        run,
        store=store,
        trials=trials or 0,
        finals=finals or 0,
        ablation=ablation,
        launch=launch,
        observe=_observer(quiet=quiet),
        say=_say,
    )
    _conclude(outcome, as_json=as_json)


def launch_from(given: dict[str, Any]) -> Launch:
    """The launch options of a command, taken out of what it was given."""
    from clar_tune.cluster import Launch

    return Launch(
        address=given.pop("address"),
        cpus=given.pop("cpus_per_trial"),
        gpus=given.pop("gpus_per_trial"),
        max_concurrent=given.pop("max_concurrent"),
        time_budget=given.pop("time_budget"),
        data=given.pop("data"),
        take_over=given.pop("take_over", False),
        single_driver=given.pop("single_driver"),
    )


def options_from(given: dict[str, Any]) -> Options:
    """The options of a run, taken out of what its command was given."""
    from clar_tune.space import Options

    options = Options(
        settings=given.pop("settings"),
        graphs=given.pop("graphs"),
        methods=given.pop("methods"),
        conditions=given.pop("conditions"),
        protocol=given.pop("protocol"),
        trials=given.pop("trials"),
        repeats=given.pop("repeats"),
        finals=given.pop("finals"),
        sampler=given.pop("sampler"),
        pruning=False if given.pop("no_pruning") else None,
        selection=given.pop("selection"),
        engine=given.pop("engine"),
        replicates=given.pop("searches"),
        outer_test=given.pop("outer_test"),
        seed=given.pop("seed"),
        ablation=not given.pop("no_ablation"),
        trial_timeout=given.pop("trial_timeout"),
    )
    _refuse_unused(given)
    return options


def _refuse_unused(given: dict[str, Any]) -> None:
    """An option that reaches nothing would be ignored in silence."""
    if given:
        raise TypeError(f"options that reach nothing: {', '.join(given)}")


def _observer(*, quiet: bool) -> api.Observer:
    """Shows the work on the terminal and obeys Ctrl-C; what libraries print goes to a file."""

    @contextmanager
    def observe(name: str, store: Store, limits: Limits) -> Iterator[View]:
        from clar_tune.cli.interrupts import interruptible
        from clar_tune.cli.live import view_on
        from clar_tune.cli.output import diverted
        from clar_tune.graphs import cache_folder

        log = cache_folder().parent / "logs" / f"{name}.log"
        if not quiet:
            click.echo(f"run {name} in {store.url}, log in {log}", err=True)
        with (
            diverted(log) as terminal,
            view_on(terminal, quiet=quiet) as view,
            interruptible(limits),
        ):
            yield view

    return observe


def _say(text: str) -> None:
    """Tell why nothing seems to happen."""
    click.echo(f"clar-tune: {text}", err=True)


def _conclude(outcome: api.RunOutcome, *, as_json: bool) -> None:
    """Print what came out, say what is missing, and exit accordingly."""
    from clar_tune.analysis import compare, read_run
    from clar_tune.cli.output import print_table
    from clar_tune.report import FORMAT, data_of, document_of

    comparison = compare([read_run(outcome.store, outcome.name)])
    if as_json:
        head = {"run": outcome.name, "state": outcome.state, "format": FORMAT}
        click.echo(json.dumps({**head, "comparison": data_of(document_of(comparison))}, indent=2))
    else:
        print_table(comparison)
    for study, lack in outcome.lacks.items():
        click.echo(f"clar-tune: {study}: {lack}", err=True)
    if outcome.state in ("paused", "interrupted"):
        click.echo(f"{outcome.state}; go on with: {_continuation(outcome)}", err=True)
    if EXIT_CODES[outcome.state]:
        sys.exit(EXIT_CODES[outcome.state])


def _continuation(outcome: api.RunOutcome) -> str:
    """The command that goes on with a run from where this one was typed."""
    from clar_tune.cluster import JOB

    context, submitted = click.get_current_context(), JOB in os.environ
    words = ["clar-tune", *(["submit"] if submitted else []), "resume", outcome.name]
    # A submitted run was given the address of its own cluster, and finds it again.
    for option in ("store", "data", *(() if submitted else ("address",))):
        if context.get_parameter_source(option) == ParameterSource.COMMANDLINE:
            words += [f"--{option}", str(context.params[option])]
    return shlex.join(words)
