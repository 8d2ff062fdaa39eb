"""``clar-tune export``: results for other tools."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clar_tune.cli.options import store_option
from clar_tune.errors import StoreError
from clar_tune.store import LATEST


@click.command()
@click.option(
    "--optuna",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write: .db, .sqlite or .sqlite3 for SQLite, .log or .journal for a journal.",
)
@click.argument("named", nargs=-1, metavar="[RUN]...")
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Run to write; repeatable.  [default: latest]",
)
@store_option
def export(target: Path, named: tuple[str, ...], runs: tuple[str, ...], store: str) -> None:
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
    names = (*named, *runs) or (LATEST,)
    found = {view.name: view for view in (read_run(opened, n, curves=True) for n in names)}
    trials = sum(len(study.trials) for view in found.values() for study in view.studies)
    if not trials:
        raise StoreError(f"{', '.join(found)}: no study has begun, so there is nothing to write.")
    views = list(found.values())
    for view in views:
        if reason := why_ranges_are_unknown(view.row):
            click.echo(
                f"clar-tune: {view.name}: ranges are guessed from values, as its space cannot be "
                f"read here: {reason}",
                err=True,
            )
    if sys.stderr.isatty():
        with click.progressbar(length=trials, label="trials written", file=sys.stderr) as bar:
            write(views, target, bar.update)
    else:
        write(views, target)
    studies = sum(len(view.studies) for view in found.values())
    told = "1 study" if studies == 1 else f"{studies} studies"
    click.echo(f"{target}: {told} with {trials} trials of {', '.join(found)}")
    click.echo(opened_by(target))
