"""A comparison in one table: a line per score, per rival of clar, and per correlation."""

from collections.abc import Iterator
from typing import Any

from clar_tune.analysis import Comparison, Contrast, Correlation, Place, Row, Score, split_label
from clar_tune.records import to_stored
from clar_tune.report.blocks import Cell, Column, Line, Table
from clar_tune.report.builders.effects import Result, results_of, rivals_of

COLUMNS = (
    *("runs", "space", "settings", "paper_table", "record"),
    *("graph", "condition", "protocol", "metric", "notes", "method", "column"),
    *("mean", "half", "units", "searches", "search_spread", "paper", "best"),
    *("asked", "trials", "failed", "repeats", "finals", "seconds"),
    *("penalty_active", "weightless", "full", "used_up"),
    *("against", "gain", "gain_half", "pairs", "p", "p_holm", "family", "detectable", "verdict"),
    *("paper_gain", "ratio", "paper_ratio"),
    *("kind", "key", "values", "coefficient", "low", "high"),
    *("identical", "apart", "gap", "gap_half"),
    *("unit", "train_nodes", "val_nodes", "test_nodes", "without_complement", "reason"),
    "remote_share",
)
"""``record`` is ``score``, ``rival``, ``effect``, ``backbone``, ``over_graphs`` or
``correlation``; each fills the columns it has.

``condition`` is that of the row, ``column`` the part of it that makes columns.
"""

GAIN = (
    *("against", "gain", "p", "p_holm", "detectable", "verdict"),
    *("paper_gain", "ratio", "paper_ratio", "reason"),
)
"""Columns that a contrast has under the same name."""


def flat_of(comparison: Comparison) -> Table:
    """All records, in natural units and full precision; columns that are new come last."""
    records = list(_records(comparison))
    names = dict.fromkeys((*COLUMNS, *(name for record in records for name in record)))
    return Table(
        ident="records",
        title="Records",
        columns=tuple(map(Column, names)),
        lines=tuple(Line(tuple(Cell(record.get(name)) for name in names)) for record in records),
    )


def origin_of(comparison: Comparison) -> dict[str, Any]:
    """What is compared, which every line of data begins with."""
    names = ("space", "settings", "paper_table", "unit")
    return {"runs": " ".join(comparison.runs), **{n: getattr(comparison, n) for n in names}}


def _records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    rows = {(row.graph, row.condition): row for row in comparison.rows}
    rivals: dict[Place, list[Result]] = {}
    for rival in rivals_of(comparison):
        rivals.setdefault(rival.place, []).append(rival)
    for result in results_of(comparison):
        graph, condition, label = result.place
        head = _head(rows[graph, condition], label)
        gain = _gain(comparison, result)
        yield {**head, "record": "score", **_score(result.score), **gain}
        for rival in rivals.get(result.place, []):
            yield {**head, "record": "rival", **_gain(comparison, rival)}
    for effect in comparison.effects:
        at = rows.get((effect.graph, effect.condition))
        head = _head(at, effect.method) if at else {}
        yield {**to_stored(effect), **head, "record": "effect"}
    for beside in comparison.backbones:
        head = _head(rows[beside.graph, beside.condition], beside.method)
        yield {**head, "record": "backbone", **_of_contrast(comparison, beside)}
    for over in comparison.over_graphs:
        values = to_stored(over)
        lists = {name: " ".join(values[name]) for name in ("graphs", "left_out")}
        yield {**values, **lists, "record": "over_graphs"}
    for correlation in comparison.correlations:
        yield {"record": "correlation", **_correlation(correlation)}


def _head(row: Row, label: str) -> dict[str, Any]:
    method, column = split_label(label)
    return {
        **to_stored(row),
        "notes": "; ".join(row.notes),
        "method": method,
        "column": column,
    }


def _score(score: Score) -> dict[str, Any]:
    values = to_stored(score)
    del values["method"]  # the head has it in two parts
    return {**values.pop("budget"), **values}


def _correlation(correlation: Correlation) -> dict[str, Any]:
    values = {name: value for name, value in to_stored(correlation).items() if name != "points"}
    return {**values, "values": " ".join(correlation.values)}


def _gain(comparison: Comparison, result: Result) -> dict[str, Any]:
    return {} if result.contrast is None else _of_contrast(comparison, result.contrast)


def _of_contrast(comparison: Comparison, contrast: Contrast) -> dict[str, Any]:
    values = to_stored(contrast)
    renamed = {"gain_half": values["half"], "pairs": values["units"], "family": comparison.family}
    return {**{name: values[name] for name in GAIN}, **renamed}
