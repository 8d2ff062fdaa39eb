"""Our means against the numbers that the paper prints."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from clar_tune.analysis import Comparison, Score
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import ONCE, ROWS, scaled, spec_of, worded
from clar_tune.report.figures.names import place_name, short
from clar_tune.report.figures.scales import method_scales, parts_of
from clar_tune.report.figures.units import Unit, unit_of

HEIGHT, STRIP = 400, 14
"""Heights in pixels: of the points, and of each line below them."""
PLACES = 14
"""With more graphs and conditions than this there are no lines below the points."""


def paper_figure(comparison: Comparison) -> Figure | None:
    """A point per score that the paper has too; on the diagonal both are equal."""
    scores = [score for score in comparison.scores if score.paper is not None]
    if not scores:
        return None
    unit = unit_of(row.metric for row in comparison.rows)
    rows = tuple(_row(score) for score in scores)
    return Figure(
        name="paper",
        kind="paper",
        title="Our scores against the paper's",
        text=_text(rows, unit),
        rows=rows,
        spec=_spec(rows, unit),
    )


def _row(score: Score) -> dict[str, Any]:
    return {
        "graph": score.graph,
        "condition": score.condition,
        "place": place_name(score.graph, score.condition),
        "method": score.method,
        **parts_of(score.method),
        "paper": score.paper,
        "mean": score.mean,
        "low": None if score.half_width is None else score.mean - score.half_width,
        "high": None if score.half_width is None else score.mean + score.half_width,
        "units": score.units,
    }


def _spec(rows: Sequence[dict[str, Any]], unit: Unit) -> dict[str, Any]:
    low, high = _domain(rows, unit)
    square: dict[str, Any] = {"domain": [low, high], "nice": False, "zero": False}
    title = unit.title("Our test")
    x = alt.X(
        "shown_paper:Q", title=unit.title("Test") + " in the paper", scale=alt.Scale(**square)
    )
    on_y: dict[str, Any] = {"title": title, "scale": alt.Scale(**square, range=[HEIGHT, 0])}
    looks = method_scales(row["method"] for row in rows)
    layers = [
        alt.Chart(ONCE)
        .mark_rule(style="reference")
        .encode(x=alt.XDatum(low), y=alt.YDatum(low), x2=alt.X2Datum(high), y2=alt.Y2Datum(high)),
        alt.Chart()
        .mark_rule(opacity=0.55)
        .transform_filter("isValid(datum.low)")
        .transform_calculate(
            drawn_low=f"max(datum.shown_low, {low})", drawn_high=f"min(datum.shown_high, {high})"
        )
        .encode(x=x, y=alt.Y("drawn_low:Q", **on_y), y2="drawn_high:Q", color=looks["color"]),
        alt.Chart()
        .mark_point(size=60, filled=True, opacity=0.9)
        .encode(x=x, y=alt.Y("shown_mean:Q", **on_y), tooltip=_tooltip(unit), **looks),
    ]
    places = len({row["place"] for row in rows})
    if places <= PLACES:
        layers += _ranges(places)
    shown = scaled(
        unit.factor, shown_paper="paper", shown_mean="mean", shown_low="low", shown_high="high"
    )
    chart = alt.layer(*layers, data=ROWS).transform_calculate(**shown)
    chart = chart.transform_calculate(
        difference="datum.shown_mean - datum.shown_paper",
        **worded(shown_low=unit.digits, shown_high=unit.digits),
    )
    return spec_of(chart, HEIGHT + (STRIP * places + 8 if places <= PLACES else 0))


def _ranges(places: int) -> list[alt.Chart]:
    """Below the points, for each graph the range of its numbers in the paper, with its name."""
    strip = (
        alt.Chart()
        .transform_aggregate(first="min(shown_paper)", last="max(shown_paper)", groupby=["place"])
        .transform_window(nth="row_number()", sort=[alt.SortField("first")])
        .transform_calculate(depth=f"{HEIGHT} + {STRIP} * ({places} - datum.nth + 1)")
        .encode(y=alt.Y("depth:Q", scale=None))
    )
    # Names stand on the side with more room.
    left, right = (f"datum.nth {half} {places / 2}" for half in (">", "<="))
    return [
        strip.mark_rule(style="stem", strokeWidth=3).encode(x="first:Q", x2="last:Q"),
        strip.transform_filter(left)
        .mark_text(align="right", dx=-5, style="small")
        .encode(x="first:Q", text="place:N"),
        strip.transform_filter(right)
        .mark_text(align="left", dx=5, style="small")
        .encode(x="last:Q", text="place:N"),
    ]


def _domain(rows: Sequence[dict[str, Any]], unit: Unit) -> tuple[float, float]:
    """Both axes alike, a little wider than the data; an interval may end where no score can be."""
    names = ("paper", "mean", "low", "high")
    values = [unit.factor * row[name] for row in rows for name in names if row[name] is not None]
    room = 0.04 * (max(values) - min(values)) or 1.0
    low, high = round(min(values) - room, 4), round(max(values) + room, 4)
    return (max(low, 0.0), min(high, 100.0)) if unit.percent else (low, high)


def _tooltip(unit: Unit) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("place:N", title="Graph"),
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("shown_mean:Q", title="Ours", format=unit.digits),
        alt.Tooltip("shown_low_text:N", title="Interval from"),
        alt.Tooltip("shown_high_text:N", title="Interval to"),
        alt.Tooltip("shown_paper:Q", title="Paper", format=unit.digits),
        alt.Tooltip("difference:Q", title="Ours minus paper", format="+" + unit.digits),
    ]


def _text(rows: Sequence[dict[str, Any]], unit: Unit) -> str:
    gaps = {index: row["mean"] - row["paper"] for index, row in enumerate(rows)}
    inside = sum(r["low"] is not None and r["low"] <= r["paper"] <= r["high"] for r in rows)
    middle = sorted(abs(gap) for gap in gaps.values())[len(gaps) // 2]
    far = max(gaps, key=lambda index: abs(gaps[index]))
    place = f"{short(rows[far]['method'])} on {rows[far]['place']}"
    return (
        f"Mean over our finals, with its 95 % interval, against the number in the paper; on the "
        f"dashed line both are equal. Below stands the range of each graph. The paper's number "
        f"lies in our interval for {inside} of {len(rows)} scores. Half of the scores differ by "
        f"at most {unit.gain(middle).lstrip('+')}. Farthest apart: {place}, "
        f"{unit.score(rows[far]['mean'])} here and {unit.score(rows[far]['paper'])} in the paper."
    )
