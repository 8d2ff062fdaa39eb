"""``clar-tune train --spectrum``: which frequencies the outputs of a training hold."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from clar_tune.records import to_stored

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rich.table import Table

    from clar_tune.graphs import Graph
    from clar_tune.models import Method
    from clar_tune.records import Params
    from clar_tune.training import Form, Measured, Report, Results, Summary

LONGEST_BAR = 16
NUMBERS = 14
"""Characters of ``12.3 ± 4.5`` and the gaps around it."""

LEGEND = (
    "frequency: the mean one, tr(H'LH) / tr(H'H). energy: per node. constant: what the mean over "
    "the nodes held. The outputs are those of the selected epoch, in evaluation mode."
)


def show_spectra(
    graph: Graph,
    form: Form,
    method: Method,
    params: Params,
    rules: dict[str, Any],
    seeds: Sequence[tuple[int, int]],
    progress: Callable[[str, int], AbstractContextManager[Report]],
    test: bool,
    as_json: bool,
) -> None:
    """Train the method, its plain backbone and its control; print their energies."""
    from clar_tune.training import Frequencies, Stage, labelled_arms

    arms = labelled_arms(method, params)
    click.echo(f"frequencies of {graph.name}, {graph.num_nodes:,} nodes", err=True)
    frequencies = Frequencies.of(graph)
    stage = Stage(graph, form, frequencies, rules)
    results: dict[str, list[Measured]] = {}
    for label, arm in arms.items():
        for pair in seeds:
            with progress(f"{label} on {graph.name}", rules["max_epochs"]) as report:
                measured = stage.measure(arm, pair, test, report)
            results.setdefault(label, []).append(measured)
    if as_json:
        click.echo(json.dumps(_as_dict(graph, frequencies.band_sizes, results), indent=2))
    else:
        _print(graph, frequencies.band_sizes, results)


def _as_dict(graph: Graph, sizes: Sequence[float] | None, results: Results) -> dict[str, Any]:
    from clar_tune.training import band_edges, seen

    return {
        "graph": graph.name,
        "nodes": graph.num_nodes,
        "bands": band_edges() if sizes else None,
        "eigenvalues": sizes,
        "contenders": [
            {
                "label": label,
                "summary": to_stored(_summaries(measured)),
                "trainings": [_training(one) for one in measured],
            }
            for label, measured in results.items()
        ],
        "seen": seen(results),
    }


def _training(one: Measured) -> dict[str, Any]:
    energy = {**to_stored(one.energy), "shares": one.energy.shares}
    result = {**to_stored(one.spec), **to_stored(one.record), "energy": energy}
    return result if one.test_score is None else {**result, "test_score": one.test_score}


def _summaries(measured: Sequence[Measured]) -> dict[str, Summary | None]:
    """The numbers of a arm over its trainings, by the name of the row that shows them."""
    from clar_tune.training import summary

    return {
        "frequency": summary(one.energy.frequency for one in measured),
        "energy": summary(one.energy.total for one in measured),
        "constant": summary(one.energy.constant for one in measured),
        "validation": summary(one.record.val_score for one in measured),
        "test": summary(one.test_score for one in measured),
    }


def _print(graph: Graph, sizes: Sequence[float] | None, results: Results) -> None:
    from clar_tune.cli.output import console
    from clar_tune.graphs import FULL_SPECTRUM_NODES
    from clar_tune.training import BANDS, seen

    page = console()
    page.print(_title(results))
    page.print(
        f"Energy of the outputs, less their mean over the nodes, in {BANDS} equally wide bands of "
        "the normalised Laplacian's eigenvalues: shares in percent, beside those of white noise."
        if sizes
        else f"{graph.name} has {graph.num_nodes:,} nodes: energies of bands need all "
        f"frequencies, which are computed up to {FULL_SPECTRUM_NODES:,} nodes."
    )
    page.print(_table(sizes, results, page.width))
    page.print(LEGEND)
    for line in seen(results):
        page.print(line)


def _title(results: Results) -> str:
    first, *rest = next(iter(results.values()))
    spec, count = first.spec, 1 + len(rest)
    over = "one training" if count == 1 else f"{count} trainings: mean ± standard deviation"
    return ", ".join(filter(None, (spec.graph, spec.condition, spec.protocol, over)))


def _table(sizes: Sequence[float] | None, results: Results, width: int) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("band" if sizes else "", no_wrap=True)
    table.add_column("noise" if sizes else "", justify="right", no_wrap=True)
    for label in results:
        table.add_column(label.replace(" ", "\n"), no_wrap=True)
    if sizes:
        bar = (width - 19) // len(results) - NUMBERS
        for row in _band_rows(sizes, results, max(0, min(bar, LONGEST_BAR))):
            table.add_row(*row)
        table.add_row()
    summaries = [_summaries(measured) for measured in results.values()]
    for name in summaries[0]:
        cells = [_number(found[name]) for found in summaries]
        if any(cells):
            table.add_row(name, "", *cells)
    return table


def _band_rows(sizes: Sequence[float], results: Results, bar: int) -> Iterator[tuple[str, ...]]:
    from clar_tune.training import band_edges, summary

    columns = [
        [summary(shares) for shares in zip(*_shares(measured, len(sizes)), strict=True)]
        for measured in results.values()
    ]
    largest = max((share.mean for column in columns for share in column if share), default=1.0)
    for (start, end), size, *shares in zip(band_edges(), sizes, *columns, strict=True):
        cells = [_share(share, bar / largest) for share in shares]
        yield f"{start:.2f}-{end:.2f}", f"{100 * size:.1f}", *cells


def _shares(measured: Sequence[Measured], bands: int) -> list[Sequence[float | None]]:
    """Of each training the share of each band; nothing where all outputs are equal."""
    return [one.energy.shares or [None] * bands for one in measured]


def _share(share: Summary | None, scale: float) -> str:
    """``12.3 ± 4.5 ####``."""
    if share is None:
        return ""
    spread = "" if share.deviation is None else f" ±{100 * share.deviation:4.1f}"
    return f"{100 * share.mean:4.1f}{spread} {'#' * round(scale * share.mean)}"


def _number(found: Summary | None) -> str:
    if found is None:
        return ""
    spread = "" if found.deviation is None else f" ± {found.deviation:.2g}"
    return f"{found.mean:.3g}{spread}"
