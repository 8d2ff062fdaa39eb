"""``clar-tune train``: one training without Ray."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from clar_tune.cli.failures import one_line
from clar_tune.cli.options import store_option
from clar_tune.conditions import read_value
from clar_tune.errors import ParameterError
from clar_tune.records import to_stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clar_tune.preparation import Prepared
    from clar_tune.records import TrainRecord, TrainSpec, Value
    from clar_tune.training import Report


@click.command()
@click.option("--graph", "graph_name", help="Graph; `clar-tune graphs` lists them.")
@click.option("--method", "method_name", help="`gcn`, `gcn+clar`, `sage+clar` …")
@click.option(
    "--from",
    "source",
    metavar="RUN",
    help="Train the winner that a run has for --graph, --method and --condition, by its settings, "
    "on its finals' splits; or the configuration in a .json file.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Parameter; repeatable."
)
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="KEY=VALUE",
    help="What a space's sweep would fix: drop_edges, band, filter, or a parameter; repeatable.",
)
@click.option("--protocol", default="balanced-60-20-20", show_default=True, help="How to split.")
@click.option(
    "--preprocessing",
    type=click.Choice(["undirected", "released"]),
    default="undirected",
    show_default=True,
    help="`released` keeps directions, and features of chameleon and squirrel as they are.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the split and the weights.",
)
@click.option(
    "--index",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Number of the split and the weights.",
)
@click.option(
    "--select",
    type=click.Choice(["loss", "accuracy"]),
    default="loss",
    show_default=True,
    help="How the epoch is selected.",
)
@click.option("--max-epochs", default=1000, show_default=True, type=click.IntRange(1))
@click.option("--patience", default=100, show_default=True, type=click.IntRange(1))
@click.option("--warmup", default=50, show_default=True, type=click.IntRange(0))
@click.option(
    "--stop",
    type=click.Choice(["patience", "released"]),
    default="patience",
    show_default=True,
    help="`released` goes on while the best epoch lies within the warm-up.",
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "native", "torch"]),
    default="auto",
    show_default=True,
    help="What trains: a compiled program, or torch; auto: a program on processors where it can.",
)
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1))
@click.option("--data", type=click.Path(path_type=Path), help="Folder with raw graphs.")
@click.option("--test", is_flag=True, help="Also score the test nodes; do not choose by it.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep weights, predictions, the learning curve and the configuration in this folder.",
)
@click.option(
    "--spectrum", is_flag=True, help="Show which frequencies the outputs hold, beside the plain."
)
@click.option(
    "--splits",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Trainings of each with --spectrum: splits in turn, or seeds of a fixed one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
@store_option
def train(
    graph_name: str | None,
    method_name: str | None,
    source: str | None,
    settings: tuple[str, ...],
    conditions: tuple[str, ...],
    data: Path | None,
    test: bool,
    out: Path | None,
    spectrum: bool,
    splits: int,
    as_json: bool,
    store: str,
    **rules: Any,
) -> None:
    """Train one configuration once and show what came of it.

    With `--from` everything is as in the run, down to the splits of its finals, and options that
    are given beside it change that.

    \b
    Examples:
      clar-tune train --graph csbm-heterophily --method gcn+clar
      clar-tune train --graph cora --method gcn+clar --set beta=2 --set dropout=0.5 --test
      clar-tune train --graph cora --method gcn --condition drop_edges=0.3
      clar-tune train --from latest --graph cora --method gcn+clar --out kept
      clar-tune train --graph texas --method gcn+clar --spectrum --splits 5
    """  # noqa: D301
    from clar_tune.cli.winner import configuration_from
    from clar_tune.fits import fit_of
    from clar_tune.preparation import Rules, prepare, prepare_again
    from clar_tune.space import condition_text

    _check(splits, spectrum, out)
    params, condition = parsed(settings), parsed(conditions, "--condition")
    if source is None:
        graph, method = _named(graph_name, "--graph"), _named(method_name, "--method")
        prepared = prepare(graph, method, params, Rules(condition=condition, **rules), data)
    else:
        text = condition_text(condition) if condition else None
        named = {"graph": graph_name, "method": method_name, "condition": text}
        winner = configuration_from(source, named, store)
        prepared = prepare_again(winner, params, _typed(rules), data)
    if prepared.by_torch:
        click.echo(f"trained by torch: {prepared.by_torch}", err=True)
    if spectrum:
        return _show_spectra(prepared, splits, test, as_json)
    _make_ready(prepared)
    title = f"{prepared.method.name} on {prepared.graph.name}"
    with one_line(), _progress(title, prepared.spec.max_epochs) as report:
        fit = fit_of(prepared, report)
    tested = fit.test_score if test else None
    if out:
        click.echo(f"kept in {fit.save(out)}", err=True)
    if as_json:
        click.echo(json.dumps(_as_dict(fit.spec, fit.record, tested), indent=2))
    else:
        _print(fit.spec, fit.record, tested)


def _named(name: str | None, option: str) -> str:
    """What is needed unless a run is named, which knows it."""
    if name is None:
        raise click.MissingParameter(param_hint=f"'{option}'", param_type="option")
    return name


def _check(splits: int, spectrum: bool, out: Path | None) -> None:
    """Refuse options that do not go together, and a folder that is not to be written to."""
    from clar_tune.fits import check_out

    if splits > 1 and not spectrum:
        raise ParameterError(f"--splits {splits}: one training has one split. Add --spectrum.")
    if out and spectrum:
        raise ParameterError("--out: --spectrum trains several models. Leave one of them out.")
    if out:
        check_out(out)


def _typed(rules: dict[str, Any]) -> dict[str, Any]:
    """What was given on the command line, and is no default."""
    source, given = click.get_current_context().get_parameter_source, ParameterSource.COMMANDLINE
    return {name: value for name, value in rules.items() if source(name) == given}


def _show_spectra(prepared: Prepared, splits: int, test: bool, as_json: bool) -> None:
    """The frequencies of the training's outputs, over splits from its own on."""
    from clar_tune.cli.spectra import show_spectra
    from clar_tune.graphs import seed_pair

    spec, rules, graph = prepared.spec, prepared.rules, prepared.graph
    if rules.outer_test:
        raise ParameterError(
            "--spectrum: the run withheld test nodes (--outer-test), which it knows nothing of. "
            "Leave it out."
        )
    same = (
        *("condition", "protocol", "select", "max_epochs", "patience", "warmup", "stop"),
        *("threads", "engine", "device"),
    )
    pairs = [
        seed_pair(graph.name, rules.protocol, rules.seed, number, rules.purpose, graph.splits)
        for number in range(rules.index, rules.index + splits)
    ]
    of_spec = {name: getattr(spec, name) for name in same}
    form, method = prepared.form, prepared.method
    with one_line():
        show_spectra(graph, form, method, spec.params, of_spec, pairs, _progress, test, as_json)


def _make_ready(prepared: Prepared) -> None:
    """Load the program of a training; say so where it has to be compiled first."""
    program = prepared.program
    if program:
        click.echo(f"compiling {program} for this machine, which is done once", err=True)
    prepared.make_ready()


def parsed(settings: tuple[str, ...], option: str = "--set") -> dict[str, Value]:
    """``key=value`` pairs; values are read as YAML, so ``clamp=null`` and ``alpha=1e-3`` work."""
    params: dict[str, Value] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ParameterError(f"{option} {setting}: write it as key=value.")
        params[key] = read_value(f"{option} {key}", text)
    return params


@contextmanager
def _progress(title: str, epochs: int) -> Iterator[Report]:
    """A bar on stderr; nothing but a line at the end where there is no terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("val loss {task.fields[loss]:.4f}  best {task.fields[best]:.4f}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=epochs, loss=float("nan"), best=float("nan"))

        def report(epoch: int, loss: float, best: float) -> None:
            bar.update(task, completed=epoch, loss=loss, best=best)

        yield report


def _as_dict(spec: TrainSpec, record: TrainRecord, tested: float | None) -> dict[str, Any]:
    result = {**to_stored(spec), **to_stored(record)}
    return result if tested is None else {**result, "test_score": tested}


def _print(spec: TrainSpec, record: TrainRecord, tested: float | None) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    rows = [
        ("graph", ", ".join(filter(None, (spec.graph, spec.condition, spec.protocol)))),
        ("nodes", f"{record.train_nodes} training, {record.val_nodes} validation"),
        (f"validation {record.metric}", f"{record.val_score:.4f}"),
        ("validation loss", f"{record.val_loss:.4f}"),
        ("selected epoch", f"{record.best_epoch} of {record.epochs}, by {spec.select}"),
        ("seconds", f"{record.seconds:.2f}"),
    ]
    if tested is not None:
        rows.insert(3, (f"test {record.metric}", f"{tested:.4f}"))
    rows += [
        (
            "penalty" if name == "penalty" else f"penalty {name}",
            f"{term.value:.4g}, with a gradient in {term.active:.1%} of epochs",
        )
        for name, term in record.terms.items()
    ]
    rows += [(name.replace("_", " "), f"{value:.4g}") for name, value in record.facts.items()]
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.print(table)
    if record.penalty_active == 0:
        console.print(
            "The penalty never had a gradient: this is the plain backbone. "
            "Try another reduction, clamp or smaller weights."
        )
