"""``clar-tune export``: results for other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import store_option
from clar_tune.errors import StoreError

if TYPE_CHECKING:
    pass


@click.command()
@click.option(
    "--optuna",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write: .db, .sqlite or .sqlite3 for SQLite, .log or .journal for a journal.",
)
@click.option(
    "--run",
    "names",
    multiple=True,
    default=("latest",),
    show_default="latest",
    help="A run to write; repeatable.",
)
@store_option
def export(target: Path, names: tuple[str, ...], store: str) -> None:
    """Write the studies of runs as an Optuna storage, which optuna-dashboard opens.

    Every trial is there with its state, parameters, validation scores and times. Test scores
    are not: they are no place to choose configurations by. `clar-tune compare` shows them.

    The dashboard's own importances rest on the few trials with all repeats; those of
    `clar-tune report` rest on all trials.

    A journal is written in seconds. SQLite takes some minutes for 10,000 trials.

    \b
    Example:
      clar-tune export --optuna run.log
      pip install optuna-dashboard
      optuna-dashboard run.log
    """  # noqa: D301
    from clar_tune.analysis import (
        check_target,
        export as write,
        opened_by,
        read_run,
        why_ranges_are_unknown,
    )
    from clar_tune.store import Store

    check_target(target)
    opened = Store.open(store)
    found = {view.name: view for view in (read_run(opened, n, curves=True) for n in names)}
    trials = sum(len(study.trials) for view in found.values() for study in view.studies)
    if not trials:
        raise StoreError(f"{', '.join(found)}: no study has begun, so there is nothing to write.")
    runs = list(found.values())
    for view in runs:
        if reason := why_ranges_are_unknown(view.row):
            click.echo(
                f"clar-tune: {view.name}: ranges are guessed from values, as its space cannot be "
                f"read here: {reason}",
                err=True,
            )
    if sys.stderr.isatty():
        with click.progressbar(length=trials, label="trials written", file=sys.stderr) as bar:
            write(runs, target, bar.update)
    else:
        write(runs, target)
    studies = sum(len(view.studies) for view in found.values())
    click.echo(f"{target}: {studies} studies with {trials} trials of {', '.join(found)}")
    click.echo(opened_by(target))
