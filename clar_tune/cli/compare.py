"""``clar-tune compare``: methods side by side, with intervals, tests and the paper's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clar_tune.cli.options import store_option
from clar_tune.errors import UnknownName

if TYPE_CHECKING:
    from clar_tune.analysis import Comparison, Criteria
    from clar_tune.store import Store


@click.command()
@click.argument("named", nargs=-1, metavar="[RUN]...")
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
@click.option(
    "--margin",
    type=float,
    metavar="POINTS",
    help="An effect surely below this counts as equal.  [default: that of the run, 1]",
)
@click.option(
    "--interval",
    type=click.Choice(["splits", "nadeau-bengio"]),
    default="splits",
    show_default=True,
    help="What intervals are for: new splits of this graph, or new data.",
)
@click.option(
    "--baseline",
    metavar="BACKBONE",
    help="Backbone that the others are measured by.  [default: gcn]",
)
@click.option("--explain", is_flag=True, help="Print how to read the numbers, and all remarks.")
@store_option
def compare(
    named: tuple[str, ...],
    runs: tuple[str, ...],
    space: str | None,
    form: str,
    margin: float | None,
    interval: str,
    baseline: str | None,
    explain: bool,
    store: str,
) -> None:
    """Compare the methods of a run: the answer first, then scores, effects and gains.

    RUN is a name, the beginning of one, or `latest`. Several runs are joined only if their
    protocols, budgets and final pairs agree; of two that differ in their splits alone, the
    effects are set against each other. Scores are means over finals with 95 % intervals, beside
    the paper's number where there is one. `latex` is a document that compiles as it is.

    \b
    Examples:
      clar-tune compare
      clar-tune compare --space heterophily --format latex > table.tex
      clar-tune compare first second --format csv
      clar-tune compare first --margin 0.5 --baseline sage --explain
    """  # noqa: D301
    from clar_tune.analysis import BASELINE, Criteria
    from clar_tune.cli.output import print_documents
    from clar_tune.report import documents_of, render
    from clar_tune.store import Store

    runs = (*named, *runs)
    if runs and space is not None:
        raise click.UsageError("--run and --space exclude each other: name runs or a space.")
    share = None if margin is None else margin / 100
    criteria = Criteria(margin=share, interval=interval, baseline=baseline or BASELINE)
    opened = Store.open(store)
    groups = _of_space(opened, space) if space is not None else [list(runs) or ["latest"]]
    found = [comparison for names in groups for comparison in _compared(opened, names, criteria)]
    if baseline is not None:
        _check_baseline(baseline, found)
    for line in opened.damaged():
        click.echo(f"clar-tune: left out: {line}", err=True)
    documents = documents_of(found, explain=explain, apart=space is None)
    if form == "table":
        print_documents(documents)
    else:
        click.echo(render(documents, form), nl=False)


def _check_baseline(baseline: str, compared: Sequence[Comparison]) -> None:
    """Refuse a backbone that no run has without a penalty."""
    plain = {m for comparison in compared for m in comparison.methods if "+" not in m}
    if baseline not in plain:
        raise UnknownName("plain backbone of these runs", baseline, plain)


def _compared(store: Store, runs: Sequence[str], criteria: Criteria) -> list[Comparison]:
    """One comparison of all runs, or two; a run that is named twice counts once."""
    from clar_tune.analysis import compare_all, read_run

    names = dict.fromkeys(store.find(run).name for run in runs)
    return compare_all([read_run(store, name) for name in names], criteria)


def _of_space(store: Store, space: str) -> list[list[str]]:
    """The latest run of a space under each of its settings, ``tuned`` before ``paper``."""
    name = Path(space).stem if space.endswith((".yaml", ".yml")) else space
    stored = store.runs() or [store.find("latest")]
    latest = {run.row.settings: run.name for run in reversed(stored) if run.row.space == name}
    if not latest:
        raise UnknownName("space among the runs", name, {run.row.space for run in stored})
    return [[latest[settings]] for settings in sorted(latest, reverse=True)]
