"""The chart of a sweep: lines with bands over a condition, and level lines."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from clar_tune.report.figures.charts import ROWS, Layers, scaled, spec_of, worded
from clar_tune.report.figures.names import short
from clar_tune.report.figures.scales import DASHED, label_scales
from clar_tune.report.figures.units import Unit

HEIGHT = 300
FAINT = 0.12
"""Opacity of lines that the legend does not pick, and of bands that it does."""

WIDE = 20
"""Values of a condition whose largest is this many times the smallest stand on a log scale."""


def sweep_spec(
    rows: Sequence[Mapping[str, Any]], key: str, title: str, unit: Unit
) -> dict[str, Any]:
    """One line per ``method`` over ``value``; a row without a value is a level line."""
    looks = label_scales(list(dict.fromkeys(row["method"] for row in rows)))
    pick = alt.selection_point(name="pick", fields=["method"], bind="legend")
    shown = alt.when(pick).then(alt.value(1)).otherwise(alt.value(FAINT))
    band = alt.when(pick).then(alt.value(FAINT)).otherwise(alt.value(0.02))
    point = alt.when("!isValid(datum.value)").then(alt.value(0)).when(pick).then(alt.value(1))
    values = sorted({row["value"] for row in rows if row["value"] is not None})
    mean: dict[str, Any] = {"title": title, "scale": alt.Scale(zero=False)}
    base = alt.Chart().encode(x=_axis(values, key), color=looks["color"])
    marks = base.encode(y=alt.Y("shown_mean:Q", **mean))
    chart = alt.layer(
        base.mark_area().encode(
            y=alt.Y("band_low:Q", **mean), y2="band_high:Q", opacity=band, detail="method:N"
        ),
        marks.mark_line(strokeWidth=1.8).encode(strokeDash=looks["strokeDash"], opacity=shown),
        marks.mark_point(filled=True, size=45)
        .encode(
            shape=looks["shape"],
            opacity=point.otherwise(alt.value(FAINT)),
            tooltip=_tooltip(key, unit),
        )
        .add_params(pick)
        .properties(name="points"),
        data=ROWS,
    )
    return spec_of(_prepared(chart, values, unit), HEIGHT)


def _prepared(chart: Layers, values: Sequence[float], unit: Unit) -> Layers:
    """Add every number as it is shown; a level goes from the first to the last value.

    No layer leaves rows out: Vega complains of scales without data, which a filter can cause.
    """
    shown = scaled(unit.factor, shown_mean="mean", shown_low="low", shown_high="high")
    banded = "isValid(datum.value) && isValid(datum.low)"
    return (
        chart.transform_calculate(
            **shown,
            **worded(value=".6~g"),
            at=f"isValid(datum.value) ? [datum.value] : [{values[0]}, {values[-1]}]",
            dashes=f"'{DASHED}' + datum.method",
        )
        .transform_calculate(
            **worded(shown_low=unit.digits, shown_high=unit.digits),
            band_low=f"{banded} ? datum.shown_low : datum.shown_mean",
            band_high=f"{banded} ? datum.shown_high : datum.shown_mean",
        )
        .transform_flatten(["at"])
    )


def _axis(values: Sequence[float], key: str) -> alt.X:
    """A tick at every value; wide ranges are logarithmic, also if they begin at 0."""
    positive = [value for value in values if value > 0]
    wide = bool(positive) and positive[-1] >= WIDE * positive[0]
    scale: dict[str, Any] = {"zero": False}
    if wide and values[0] > 0:
        scale = {"type": "log", "base": 2}
    elif wide and values[0] == 0:
        scale = {"type": "symlog", "constant": positive[0]}
    axis = alt.Axis(
        values=list(values), format=".4~g", grid=False, labelOverlap="greedy", tickMinStep=0
    )
    scale |= {"nice": False, "padding": 12}
    return alt.X("at:Q", title=short(key, 40), scale=alt.Scale(**scale), axis=axis)


def _tooltip(key: str, unit: Unit) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("value_text:N", title=short(key, 40)),
        alt.Tooltip("shown_mean:Q", title="Mean", format=unit.digits),
        alt.Tooltip("shown_low_text:N", title="Interval from"),
        alt.Tooltip("shown_high_text:N", title="Interval to"),
        alt.Tooltip("units:Q", title="Finals"),
    ]
