"""A comparison as CSV: one record per score, one per comparison of clar with a rival."""

import csv
from collections.abc import Iterator
from dataclasses import asdict
from io import StringIO
from typing import Any

from clar_tune.comparison import Comparison, Contrast, Row, Score

COLUMNS = (
    *("runs", "space", "settings", "paper_table", "record"),
    *("graph", "condition", "protocol", "metric", "notes", "method"),
    *("mean", "half", "units", "searches", "search_spread", "paper", "best"),
    *("asked", "trials", "failed", "repeats", "finals", "seconds"),
    *("penalty_active", "weightless", "full", "used_up"),
    *("against", "gain", "gain_half", "pairs", "p", "p_holm", "family", "detectable", "verdict"),
    "paper_gain",
)
"""``record`` is ``score`` or ``rival``; the latter has only the columns from ``against`` on."""

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


def _head(comparison: Comparison, row: Row, method: str) -> dict[str, Any]:
    return {
        "runs": " ".join(comparison.runs),
        "space": comparison.space,
        "settings": comparison.settings,
        "paper_table": comparison.paper_table,
        **asdict(row),
        "notes": "; ".join(row.notes),
        "method": method,
    }


def _score(score: Score) -> dict[str, Any]:
    values = asdict(score)
    return {**values.pop("budget"), **values}


def _gain(comparison: Comparison, contrast: Contrast) -> dict[str, Any]:
    return {
        "against": contrast.against,
        "gain": contrast.gain,
        "gain_half": contrast.half,
        "pairs": contrast.units,
        "p": contrast.p,
        "p_holm": contrast.p_holm,
        "family": comparison.family,
        "detectable": contrast.detectable,
        "verdict": contrast.verdict,
        "paper_gain": contrast.paper_gain,
    }


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
