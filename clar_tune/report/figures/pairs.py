"""Scores of a grid of cells under one value of a condition against those under another."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from clar_tune.analysis import Comparison, Correlation
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import ONCE, ROWS, scaled, spec_of
from clar_tune.report.figures.names import file_stem, short
from clar_tune.report.figures.theme import BLUE
from clar_tune.report.figures.units import Unit, unit_of

HEIGHT = 320


def pair_figures(comparison: Comparison) -> Iterator[Figure]:
    """A scatter for each Pearson coefficient; on the diagonal both scores are equal."""
    for found in comparison.correlations:
        rows = tuple(_rows(found))
        if found.kind == "pearson" and rows:
            unit = unit_of([found.metric])
            method, graph = short(found.method, 40), short(found.graph)
            yield Figure(
                name=file_stem(
                    *("pairs", found.graph, found.method), f"{found.key}={'.'.join(found.values)}"
                ),
                kind="pairs",
                title=f"{' against '.join(map(short, found.values))}: {method} on {graph}",
                text=_text(found, unit),
                rows=rows,
                spec=_spec(found, rows, unit),
            )


def _rows(found: Correlation) -> Iterator[dict[str, Any]]:
    for point in found.points:
        if math.isfinite(point.x) and math.isfinite(point.y):
            yield {
                "graph": found.graph,
                "condition": point.condition,
                "x": point.x,
                "y": point.y,
            }


def _spec(found: Correlation, rows: Sequence[Mapping[str, Any]], unit: Unit) -> dict[str, Any]:
    values = [unit.factor * row[name] for row in rows for name in ("x", "y")]
    room = 0.04 * (max(values) - min(values)) or 1.0
    low, high = round(min(values) - room, 6), round(max(values) + room, 6)
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    titles = [f"{unit.title('Test')}, {short(found.key, 20)}={short(v, 20)}" for v in found.values]
    diagonal = (
        alt.Chart(ONCE)
        .mark_rule(style="reference")
        .encode(x=alt.XDatum(low), y=alt.YDatum(low), x2=alt.X2Datum(high), y2=alt.Y2Datum(high))
    )
    points = (
        alt.Chart()
        .mark_point(filled=True, size=36, opacity=0.6, color=BLUE)
        .encode(
            x=alt.X("shown_x:Q", title=titles[0], scale=scale),
            y=alt.Y("shown_y:Q", title=titles[1], scale=scale),
            tooltip=[
                alt.Tooltip("condition:N", title="Cell"),
                alt.Tooltip("shown_x:Q", title=titles[0], format=unit.digits),
                alt.Tooltip("shown_y:Q", title=titles[1], format=unit.digits),
            ],
        )
    )
    note = (
        alt.Chart(ONCE)
        .mark_text(style="note", align="left", baseline="top")
        .encode(x=alt.value(6), y=alt.value(4), text=alt.TextValue(_note(found)))
    )
    shown = scaled(unit.factor, shown_x="x", shown_y="y")
    return spec_of(
        alt.layer(diagonal, points, note, data=ROWS).transform_calculate(**shown), HEIGHT
    )


def _note(found: Correlation) -> str:
    """The coefficient as it stands in the chart."""
    if found.coefficient is None:
        return "no coefficient"
    paper = "" if found.paper is None else f"; paper {found.paper:.3f}"
    return f"r = {found.coefficient:.3f}{_interval(found)}{paper}"


def _interval(found: Correlation) -> str:
    return "" if found.low is None else f" ({found.low:.3f} to {found.high:.3f})"


def _text(found: Correlation, unit: Unit) -> str:
    first, second = (f"{short(found.key, 40)}={short(value, 40)}" for value in found.values)
    parts = [
        f"Each point is a cell of the grid on {short(found.graph)}: its mean test score over "
        f"{found.units} finals under {first} and under {second}. On the dashed line both are "
        "equal."
    ]
    if found.coefficient is None:
        parts.append("There is no coefficient: scores do not vary, or too few are there.")
    else:
        paper = "" if found.paper is None else f"; the paper prints {found.paper:.3f}"
        parts.append(
            f"Pearson's coefficient over {found.pairs} cells is {found.coefficient:.3f}"
            f"{_interval(found)}{paper}."
        )
    if found.identical:
        without = "" if found.apart is None else f"; without them it is {found.apart:.3f}"
        parts.append(f"{found.identical} cells are the very same trainings under both{without}.")
    if found.gap is not None and math.isfinite(found.gap):
        half = "" if found.gap_half is None else f" ± {unit.gain(found.gap_half).lstrip('+')}"
        parts.append(f"{second} less {first}: {unit.gain(found.gap)}{half} over all cells.")
    return " ".join(parts)
