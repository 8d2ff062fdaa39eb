"""``clar-tune graphs``: list, fetch and verify the graphs."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.output import console
from clar_tune.errors import ClarTuneError, GraphError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where to look first; never written to.  [default: $CLAR_TUNE_DATA, then the cache]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(invoke_without_command=True)
@data_option
@json_option
@click.pass_context
def graphs(ctx: click.Context, data: Path | None, as_json: bool) -> None:
    """List the graphs; fetch or verify them.

    \b
    Examples:
      clar-tune graphs
      clar-tune graphs fetch cora texas
      clar-tune graphs verify --data datasets
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        rows = _rows(data)
        if as_json:
            click.echo(json.dumps(rows, indent=2))
        else:
            _print_table(rows)
    ctx.obj = data


@graphs.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@data_option
@click.pass_obj
def fetch(given: Path | None, names: tuple[str, ...], data: Path | None) -> None:
    """Download graphs into the cache, unless they are here already.

    \b
    Example:
      clar-tune graphs fetch cora texas
    """  # noqa: D301
    from clar_tune.graphs import dataset_named, fetch as download, locate

    for name in names:
        if dataset_named(name).source is None:
            raise GraphError(f"{name} is generated: there is nothing to fetch.")
    with _progress_bars() as bars:
        for name in names:
            folder = locate(name, data or given) or download(name, _drawn_on(bars))
            click.echo(f"{name}: in {folder}")


@graphs.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@data_option
@json_option
@click.pass_obj
def verify(given: Path | None, names: tuple[str, ...], data: Path | None, as_json: bool) -> None:
    """Compare the contents of graphs with what is expected.

    All graphs that are here, or those named; nothing is downloaded. The exit code is 1 if a
    graph is wrong, or named and not here.

    \b
    Example:
      clar-tune graphs verify cora texas
    """  # noqa: D301
    from clar_tune.graphs import DATASETS

    found = {}
    for name in names or DATASETS:
        found[name] = _verdict(name, data or given)
        if not as_json:
            click.echo(f"{name}: {found[name]}")
    if as_json:
        rows = [{"name": name, "verdict": verdict} for name, verdict in found.items()]
        click.echo(json.dumps(rows, indent=2))
    accepted = {"ok"} if names else {"ok", "not here"}
    if not accepted.issuperset(found.values()):
        raise SystemExit(1)


def _rows(data: Path | None) -> list[dict[str, Any]]:
    from clar_tune.graphs import DATASETS

    return [
        {
            "name": name,
            "nodes": dataset.facts.nodes,
            "edges": dataset.facts.edges,
            "features": dataset.facts.features,
            "classes": dataset.facts.classes,
            "homophily": dataset.facts.homophily,
            "hash": dataset.facts.hash,
            "metric": dataset.metric,
            "found": _whereabouts(name, data),
            "notes": list(dataset.notes),
        }
        for name, dataset in DATASETS.items()
    ]


def _whereabouts(name: str, data: Path | None) -> str:
    from clar_tune.graphs import DATASETS, cache_folder, locate

    if DATASETS[name].source is None:
        return "generated"
    folder = locate(name, data)
    if folder is None:
        return "not here"
    return "cache" if folder == cache_folder() else "data folder"


def _print_table(rows: Iterable[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    from clar_tune.graphs import NOTES

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    numbers = ("nodes", "edges", "features", "classes", "homophily")
    table.add_column("name", no_wrap=True)
    for column in numbers:
        table.add_column(column, justify="right")
    table.add_column("found")
    table.add_column("notes")
    for row in rows:
        counts = [f"{row[column]:,}" for column in numbers[:-1]]
        notes = ", ".join(row["notes"])
        table.add_row(row["name"], *counts, f"{row['homophily']:.3f}", row["found"], notes)
    page = console()
    page.print(table)
    for note, meaning in NOTES.items():
        page.print(f"{note}: {meaning}")


def _verdict(name: str, data: Path | None) -> str:
    """``ok``, ``not here``, or what is wrong with a graph."""
    from clar_tune.graphs import dataset_named, facts_of, load_raw, locate

    try:
        dataset = dataset_named(name)
        if dataset.source and locate(name, data) is None:
            return "not here"
        facts = facts_of(load_raw(name, data))
    except ClarTuneError as error:
        return str(error)
    if "@" in name or facts == dataset.facts:
        return "ok"
    return f"{facts}, expected {dataset.facts}"


def _progress_bars() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    return Progress(*columns, console=Console(stderr=True))


def _drawn_on(bars: "Progress") -> Callable[[str, int, int | None], None]:
    """What draws one bar for each file."""
    tasks: dict[str, TaskID] = {}

    def draw(file: str, done: int, total: int | None) -> None:
        if file not in tasks:
            tasks[file] = bars.add_task(file, total=total)
        bars.update(tasks[file], completed=done)

    return draw
