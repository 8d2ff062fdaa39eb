"""What each regularizer really did: how often its terms had a gradient, how large they were."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from clar_tune.analysis import Comparison, RunView, StudyView, counted
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import (
    LINE,
    ONCE,
    ROWS,
    beside,
    excerpt_note,
    headed,
    heading_axis,
    headings,
    spec_of,
    worded,
)
from clar_tune.report.figures.names import place_name, short
from clar_tune.report.figures.places import by_place
from clar_tune.report.figures.theme import BLUE, GREY, ORANGE

NO_WEIGHT = "weight 0"
"""Stands for the terms of a winner that gave all of them the weight 0."""
MEAN = "mean value"
"""The head of the column at the right."""
COLOURS = {"com": BLUE, "ori": ORANGE}
"""Of clar's terms; all others are grey, and every label names its term."""


def penalty_figure(comparison: Comparison, runs: Sequence[RunView]) -> Figure | None:
    """A bar per term of each penalty, over the finals of its winners."""
    rows = tuple(_rows(comparison, runs))
    if not rows:
        return None
    return Figure(
        name="penalty",
        kind="penalty",
        title="What each penalty did",
        text=_text(rows) + excerpt_note(rows),
        rows=rows,
        spec=_spec(rows),
    )


def _rows(comparison: Comparison, runs: Sequence[RunView]) -> Iterator[dict[str, Any]]:
    found = by_place(runs)
    line = 0
    for row in comparison.rows:
        for method in comparison.methods:
            studies = found.get((row.graph, row.condition, method), [])
            for term, active, value, finals in _terms(studies):
                yield {
                    "line": line,
                    "graph": row.graph,
                    "condition": row.condition,
                    "method": method,
                    "term": term,
                    "label": f"{short(method, 40)}, {term}",
                    "active": active,
                    "value": value,
                    "finals": finals,
                }
                line += 1


def _terms(studies: Sequence[StudyView]) -> Iterator[tuple[str, float, float | None, int]]:
    """Each term with its mean activity and value, and the finals that had it."""
    finals = [
        final.terms
        for study in studies
        for final in study.finals
        if final.penalty_active is not None
    ]
    names = list(dict.fromkeys(name for terms in finals for name in terms))
    for name in names:
        own = [terms[name] for terms in finals if name in terms]
        yield name, fmean(t["active"] for t in own), fmean(t["value"] for t in own), len(own)
    if finals and not names:
        yield NO_WEIGHT, 0.0, None, len(finals)


def _spec(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    terms = list(dict.fromkeys(row["term"] for row in rows))
    colours = alt.Scale(domain=terms, range=[COLOURS.get(term, GREY) for term in terms])
    line = alt.Chart().transform_filter("datum.part").encode(y=heading_axis())
    x = alt.X(
        "percent:Q",
        title="Epochs in which the term had a gradient (%)",
        scale=alt.Scale(domain=[0, 100], range=beside("100", MEAN)),
        axis=alt.Axis(values=[0, 25, 50, 75, 100]),
    )
    tooltip = [
        alt.Tooltip("place:N", title="Graph"),
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("term:N", title="Term"),
        alt.Tooltip("percent:Q", title="Active epochs (%)", format=".1f"),
        alt.Tooltip("value_text:N", title="Mean value"),
        alt.Tooltip("finals:Q", title="Finals"),
    ]
    column: dict[str, Any] = {"style": "small", "align": "right"}
    chart = alt.layer(
        headings(),
        line.mark_bar(height=9).encode(
            x=x, color=alt.Color("term:N", scale=colours, legend=None), tooltip=tooltip
        ),
        line.mark_text(style="small", align="left", dx=4).encode(
            x=x, text=alt.Text("percent:Q", format=".0f")
        ),
        line.mark_text(**column).encode(x=alt.value("width"), text="value_text:N"),
        alt.Chart(ONCE)
        .mark_text(**column, dy=-8)
        .encode(x=alt.value("width"), y=alt.value(0), text=alt.TextValue(MEAN)),
        data=ROWS,
    ).transform_calculate(
        percent="100 * datum.active",
        **worded(value=".3~g"),
    )
    return spec_of(headed(chart), alt.Step(LINE))


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    def named(row: Mapping[str, Any]) -> str:
        place = place_name(row["graph"], row["condition"])
        return f"{short(row['method'], 40)} on {place}, {row['term']}, {100 * row['active']:.0f} %"

    off = [row for row in rows if row["term"] == NO_WEIGHT]
    on = sorted((row for row in rows if row["term"] != NO_WEIGHT), key=lambda row: row["active"])
    parts = [
        "Share of epochs in which a term of the penalty had a gradient, and its mean value before "
        "clamp and weight, over the finals of each winner. A term above its clamp has no gradient."
    ]
    if on:
        parts.append(f"Least active: {named(on[0])}. Most active: {named(on[-1])}.")
        idle = sum(row["active"] < 0.05 for row in on)
        parts.append(f"{idle} of {len(on)} terms were active in fewer than 5 % of epochs.")
    if off:
        parts.append(f"Validation chose weight 0 for {counted(len(off), 'winner')}.")
    return " ".join(parts)
