"""A comparison as CSV: a record per score, comparison of clar with a rival, and correlation."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

from clar_tune.analysis import Comparison, Contrast, Correlation, Row, Score, split_label
from clar_tune.records import to_stored

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
"""``record`` is ``score``, ``rival`` or ``correlation``; each fills the columns it has.

``condition`` is that of the row, ``column`` the part of it that makes columns.
"""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes text that begins so for a formula."""


def flat(*comparisons: Comparison) -> str:
    """One header and the records of all comparisons, in natural units and full precision."""
    page = StringIO()
    writer = csv.DictWriter(page, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for comparison in comparisons:
        for record in _records(comparison):
            writer.writerow({name: _cell(value) for name, value in record.items()})
    return page.getvalue()


def _records(comparison: Comparison) -> Iterator[dict[str, Any]]:
    rows = {(row.graph, row.condition): row for row in comparison.rows}
    rivals: dict[tuple[str, str, str], list[Contrast]] = {}
    backbones: dict[tuple[str, str, str], Contrast] = {}
    for contrast in comparison.contrasts:
        place = contrast.graph, contrast.condition, contrast.method
        if contrast.rival:
            rivals.setdefault(place, []).append(contrast)
        else:
            backbones[place] = contrast
    for score in comparison.scores:
        head = _head(comparison, rows[score.graph, score.condition], score.method)
        place = score.graph, score.condition, score.method
        gain = _gain(comparison, backbones[place]) if place in backbones else {}
        yield {**head, "record": "score", **_score(score), **gain}
        for contrast in rivals.get(place, []):
            yield {**head, "record": "rival", **_gain(comparison, contrast)}
    for correlation in comparison.correlations:
        yield {**_origin(comparison), "record": "correlation", **_correlation(correlation)}


def _origin(comparison: Comparison) -> dict[str, Any]:
    return {
        "runs": " ".join(comparison.runs),
        "space": comparison.space,
        "settings": comparison.settings,
        "paper_table": comparison.paper_table,
        "unit": comparison.unit,
    }


def _head(comparison: Comparison, row: Row, label: str) -> dict[str, Any]:
    method, column = split_label(label)
    return {
        **_origin(comparison),
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


def _gain(comparison: Comparison, contrast: Contrast) -> dict[str, Any]:
    return {
        "against": contrast.against,
        "gain": contrast.gain,
        "gain_half": contrast.half_width,
        "pairs": contrast.units,
        "p": contrast.p,
        "p_holm": contrast.p_holm,
        "family": comparison.family,
        "detectable": contrast.detectable,
        "verdict": contrast.verdict,
        "paper_gain": contrast.paper_gain,
        "ratio": contrast.ratio,
        "paper_ratio": contrast.paper_ratio,
        "reason": contrast.reason,
    }


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
