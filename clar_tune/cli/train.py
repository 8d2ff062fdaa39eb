"""``clar-tune train``: one training without Ray."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clar_tune.cli.failures import one_line
from clar_tune.errors import ParameterError, TrainingError
from clar_tune.records import to_stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clar_tune.records import TrainRecord, TrainSpec, Value
    from clar_tune.training import Report


@click.command()
@click.option("--graph", "graph_name", required=True, help="Graph; `clar-tune graphs` lists them.")
@click.option("--method", "method_name", required=True, help="`gcn`, `gcn+clar`, `sage+clar` …")
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
def train(
    graph_name: str,
    method_name: str,
    settings: tuple[str, ...],
    conditions: tuple[str, ...],
    preprocessing: str,
    data: Path | None,
    seed: int,
    index: int,
    test: bool,
    spectrum: bool,
    splits: int,
    as_json: bool,
    engine: str,
    **rules: Any,
) -> None:
    """Train one configuration once and show what came of it.

    \b
    Examples:
      clar-tune train --graph csbm-heterophily --method gcn+clar
      clar-tune train --graph cora --method gcn+clar --set beta=2 --set dropout=0.5 --test
      clar-tune train --graph cora --method gcn --condition drop_edges=0.3
      clar-tune train --graph texas --method gcn+clar --spectrum --splits 5
    """  # noqa: D301
    from clar_tune.cli.spectra import show_spectra
    from clar_tune.graphs import (
        apply_variants,
        check_protocol,
        check_split,
        check_variant,
        dataset_named,
        load,
        metric_of,
        parameters_of,
        search_nodes,
        seed_pair,
        variant_of,
    )
    from clar_tune.models import Method
    from clar_tune.search import Size
    from clar_tune.space import condition_text
    from clar_tune.training import (
        best_device,
        check_objective,
        choose_engine,
        form_of,
        test_score,
        train as fit_model,
    )

    if splits > 1 and not spectrum:
        raise ParameterError(f"--splits {splits}: one training has one split. Add --spectrum.")
    method, condition = Method.parse(method_name), parsed(conditions, "--condition")
    params = method.checked({**parsed(settings), **parameters_of(condition)})
    variant = variant_of(condition)
    check_variant(variant)
    check_protocol(graph_name, rules["protocol"])
    metric = metric_of(variant, dataset_named(graph_name).metric)
    check_objective(metric, rules["protocol"], rules["select"], method)
    graph = apply_variants(load(graph_name, preprocessing, data), variant, seed)
    check_split(graph, rules["protocol"])
    rules["condition"] = condition_text(condition)
    device = "cpu" if engine == "native" else best_device().type
    chosen = choose_engine(engine, method, metric, rules["select"], device)
    rules |= {"engine": chosen.engine, "device": device}
    if chosen.reason:
        click.echo(f"trained by torch: {chosen.reason}", err=True)
    if spectrum:
        numbers = range(index, index + splits)
        pairs = [seed_pair(graph.name, rules["protocol"], seed, n, "repeat") for n in numbers]
        with one_line():
            form = form_of(graph, chosen.engine, device)
            return show_spectra(
                graph, form, method, params, rules, pairs, _progress, test, as_json
            )
    seeds = seed_pair(graph.name, rules["protocol"], seed, index, "repeat")
    spec = method.spec(graph, params, seeds=seeds, **rules)
    form = form_of(graph, spec.engine, device)
    _prepare(spec, Size.of(graph).stored)
    nodes = search_nodes(graph, spec.protocol, spec.split_seed)
    with one_line(), _progress(f"{method.name} on {graph.name}", spec.max_epochs) as report:
        fit = fit_model(spec, form, nodes, report)
    tested = test_score(fit, spec, graph) if test else None
    if as_json:
        click.echo(json.dumps(_as_dict(spec, fit.record, tested), indent=2))
    else:
        _print(spec, fit.record, tested)


def _prepare(spec: TrainSpec, entries: int) -> None:
    """Load the program of a training; say so where it has to be compiled first."""
    from clar_tune.training import make_ready

    if spec.engine == "native":
        from clar_tune.engine import may_use_cache, name_of, team_size, uncompiled

        name = name_of(spec.backbone, team_size(spec.backbone, spec.threads, entries))
        if may_use_cache() and uncompiled([name]):
            click.echo(f"compiling {name} for this machine, which is done once", err=True)
    wrong = make_ready(spec, entries)
    if wrong:
        raise TrainingError(wrong)


def parsed(settings: tuple[str, ...], option: str = "--set") -> dict[str, Value]:
    """``key=value`` pairs; values are read as YAML, so ``clamp=null`` and ``alpha=1e-3`` work."""
    import yaml

    params: dict[str, Value] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ParameterError(f"{option} {setting}: write it as key=value.")
        try:
            value = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
            raise ParameterError(f"{option} {setting}: the value cannot be read.") from error
        if isinstance(value, str):
            value = _number(value)
        if not (value is None or isinstance(value, bool | int | float | str)):
            raise ParameterError(f"{option} {setting}: a single value is needed, got {value!r}.")
        params[key] = value
    return params


def _number(text: str) -> float | str:
    """YAML takes ``1e-3`` for text; people mean a number."""
    try:
        return float(text)
    except ValueError:
        return text


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
