"""``clar-tune graphs``: list, fetch, verify, add and remove graphs."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.output import console
from clar_tune.errors import ClarTuneError, GraphError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from clar_tune.graphs import Dataset

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
    """List the graphs; fetch or verify them; add your own.

    \b
    Examples:
      clar-tune graphs
      clar-tune graphs add mine.npz --name mine
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
        dataset = dataset_named(name)
        if dataset.source is None:
            what = "generated" if dataset.generated else "your own"
            raise GraphError(f"{name} is {what}: there is nothing to fetch.")
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
    from clar_tune.graphs import DATASETS, kept_names

    found = {}
    for name in names or (*DATASETS, *kept_names()):
        found[name] = _verdict(name, data or given)
        if not as_json:
            click.echo(f"{name}: {found[name]}")
    if as_json:
        rows = [{"name": name, "verdict": verdict} for name, verdict in found.items()]
        click.echo(json.dumps(rows, indent=2))
    accepted = {"ok"} if names else {"ok", "not here"}
    if not accepted.issuperset(found.values()):
        raise SystemExit(1)


@graphs.command()
@click.argument("source", metavar="FILE")
@click.option("--name", required=True, help="What to call it: small letters, digits, hyphens.")
@click.option(
    "--metric",
    type=click.Choice(["accuracy", "roc_auc"]),
    help="What it is judged by.  [default: as the file says, or by its labels]",
)
@data_option
@json_option
@click.pass_obj
def add(
    given: Path | None,
    source: str,
    name: str,
    metric: str | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Keep a graph of your own under a name.

    FILE is an .npz or .pt, an import path `module:function`, or `pyg:Class/Name`
    (docs/GRAPHS.md). It is checked and copied: later changes of the file change nothing.

    \b
    Examples:
      clar-tune graphs add mine.npz --name mine
      clar-tune graphs add pyg:KarateClub --name karate
    """  # noqa: D301
    from clar_tune.graphs import Lookup, is_own, keep, own_name

    own_name(name)
    if not is_own(source):
        raise GraphError(f"{source} is no graph of your own. Give its .npz or .pt.")
    kept = keep(name, Lookup(data or given).raw(source), metric)
    row = _row(name, Lookup().dataset(name), "kept")
    if as_json:
        click.echo(json.dumps(row, indent=2))
        return
    click.echo(
        f"{name}: {row['nodes']:,} nodes, {row['edges']:,} edges, {row['features']:,} features, "
        f"{row['classes']} classes, homophily {row['homophily']:.3f}, {row['metric']}, "
        f"{kept.splits} of its own splits, hash {row['hash']}"
    )


@graphs.command()
@click.argument("name")
def rm(name: str) -> None:
    """Remove a graph that `graphs add` keeps; results on it stay.

    \b
    Example:
      clar-tune graphs rm mine
    """  # noqa: D301
    from clar_tune.graphs import forget

    forget(name)
    click.echo(f"{name} is removed")


def _rows(data: Path | None) -> list[dict[str, Any]]:
    from clar_tune.graphs import DATASETS, Lookup, kept_names

    listed = [_row(name, row, _whereabouts(name, data)) for name, row in DATASETS.items()]
    return [*listed, *(_row(name, Lookup().dataset(name), "kept") for name in kept_names())]


def _row(name: str, dataset: "Dataset", found: str) -> dict[str, Any]:
    return {
        "name": name,
        "nodes": dataset.facts.nodes,
        "edges": dataset.facts.edges,
        "features": dataset.facts.features,
        "classes": dataset.facts.classes,
        "homophily": dataset.facts.homophily,
        "hash": dataset.facts.hash,
        "metric": dataset.metric,
        "found": found,
        "notes": list(dataset.notes),
    }


def _whereabouts(name: str, data: Path | None) -> str:
    from clar_tune.graphs import DATASETS, cache_folder, locate

    if DATASETS[name].generated:
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
    from clar_tune.graphs import Lookup, facts_of

    lookup = Lookup(data)
    try:
        dataset = lookup.dataset(name)
        if not lookup.is_here(name):
            return "not here"
        facts = facts_of(lookup.raw(name))
    except ClarTuneError as error:
        return str(error)
    if "@" in name or dataset.own or dataset.holds(facts):
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
