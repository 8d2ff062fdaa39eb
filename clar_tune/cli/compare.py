"""``clar-tune compare``: methods side by side, with intervals, tests and the paper's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import store_option
from clar_tune.errors import UnknownName

if TYPE_CHECKING:
    from clar_tune.analysis import Comparison
    from clar_tune.store import Store


@click.command()
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Run to compare; several are joined into one table.  [default: latest]",
)
@click.option("--space", help="Compare the latest run of a space, for each of its settings.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "latex", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to print it.",
)
@store_option
def compare(runs: tuple[str, ...], space: str | None, form: str, store: str) -> None:
    """Compare the methods of a run: scores, gains, tests, and what can be concluded.

    RUN is a name, the beginning of one, or `latest`. Several runs are joined only if their
    protocols, budgets and final pairs agree. Scores are means over finals with 95 % intervals,
    beside the paper's number where there is one. `latex` is a document that compiles as it is.

    \b
    Examples:
      clar-tune compare
      clar-tune compare --space heterophily --format latex > table.tex
      clar-tune compare --run first --run second --format csv
    """  # noqa: D301
    from clar_tune.cli.output import print_table
    from clar_tune.report import document_of, render
    from clar_tune.store import Store

    if runs and space is not None:
        raise click.UsageError("--run and --space exclude each other: name runs or a space.")
    opened = Store.open(store)
    found = _of_space(opened, space) if space is not None else [_joined(opened, runs)]
    for line in opened.damaged():
        click.echo(f"clar-tune: left out: {line}", err=True)
    if form == "table":
        print_table(*found)
    else:
        click.echo(render(list(map(document_of, found)), form), nl=False)


def _joined(store: Store, runs: Sequence[str]) -> Comparison:
    """One comparison of all runs; a run that is named twice counts once."""
    from clar_tune.analysis import compare, read_run

    names = dict.fromkeys(store.find(run).name for run in runs or ["latest"])
    return compare([read_run(store, name) for name in names])


def _of_space(store: Store, space: str) -> list[Comparison]:
    """The latest run of a space under each of its settings, ``tuned`` before ``paper``."""
    name = Path(space).stem if space.endswith((".yaml", ".yml")) else space
    stored = store.runs() or [store.find("latest")]
    latest = {run.row.settings: run.name for run in reversed(stored) if run.row.space == name}
    if not latest:
        raise UnknownName("space among the runs", name, {run.row.space for run in stored})
    return [_joined(store, [latest[settings]]) for settings in sorted(latest, reverse=True)]
