"""The paired gains as a forest plot."""

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from clar_tune.comparison.records import Comparison, Contrast
from clar_tune.figures.charts import (
    LINE,
    ONCE,
    ROWS,
    Layers,
    headed,
    heading_axis,
    headings,
    scaled,
    spec_of,
    worded,
)
from clar_tune.figures.records import Figure, place_name, short
from clar_tune.figures.scales import legend
from clar_tune.figures.theme import BLUE, GREY, ORANGE, PURPLE
from clar_tune.figures.units import Unit, unit_of

NO_VERDICT, PRINTED = "no verdict", "in the paper"
LOOKS = {
    "better": (BLUE, "triangle-right"),
    "worse": (ORANGE, "triangle-left"),
    "undecided": (GREY, "circle"),
    NO_VERDICT: (GREY, "cross"),
    PRINTED: (PURPLE, "diamond"),
}
"""Colour and shape of each outcome."""


def gain_figures(comparison: Comparison) -> Iterator[Figure]:
    """Gains over the plain backbone, and those of clar over its rivals, where there are any."""
    unit = unit_of(row.metric for row in comparison.rows)
    for name, title, rival in (
        ("gains", "Gains over the plain backbone", False),
        ("rivals", "Gains of clar over other regularizers", True),
    ):
        contrasts = _ordered(comparison, rival=rival)
        if contrasts:
            rows = tuple(_row(line, contrast) for line, contrast in enumerate(contrasts))
            yield Figure(
                name=name,
                kind="gains",
                title=title,
                text=_text(contrasts, unit, rival=rival),
                rows=rows,
                spec=_spec(rows, unit, "Gain" if rival else "Gain over the plain backbone"),
            )


def _ordered(comparison: Comparison, *, rival: bool) -> list[Contrast]:
    """In the order of the table: rows, then methods."""
    places = [(row.graph, row.condition) for row in comparison.rows]
    return sorted(
        (contrast for contrast in comparison.contrasts if contrast.rival == rival),
        key=lambda contrast: (
            places.index((contrast.graph, contrast.condition)),
            comparison.methods.index(contrast.method),
            comparison.methods.index(contrast.against),
        ),
    )


def _row(line: int, contrast: Contrast) -> dict[str, Any]:
    name = contrast.method + (f" over {contrast.against}" if contrast.rival else "")
    half = contrast.half
    return {
        "line": line,
        "graph": contrast.graph,
        "condition": contrast.condition,
        "method": contrast.method,
        "against": contrast.against,
        "label": short(name),
        "gain": contrast.gain,
        "low": None if half is None else contrast.gain - half,
        "high": None if half is None else contrast.gain + half,
        "units": contrast.units,
        "p": contrast.p,
        "p_holm": contrast.p_holm,
        "verdict": NO_VERDICT if contrast.verdict == "none" else contrast.verdict,
        "detectable": contrast.detectable,
        "paper_gain": contrast.paper_gain,
    }


def _spec(rows: Sequence[dict[str, Any]], unit: Unit, title: str) -> dict[str, Any]:
    looks = _looks(rows)
    scale = alt.Scale(nice=False, padding=10)
    x = alt.X("shown_gain:Q", title=unit.gain_title(title), scale=scale)
    line = alt.Chart().transform_filter("datum.part").encode(y=heading_axis())
    tooltip = _tooltip(unit)
    point: dict[str, Any] = {"filled": True, "opacity": 1}
    chart = alt.layer(
        headings(),
        alt.Chart(ONCE).mark_rule(style="reference").encode(x=alt.XDatum(0)),
        line.mark_rule(strokeWidth=2).encode(
            x="shown_low:Q", x2="shown_high:Q", color=looks["color"]
        ),
        line.transform_filter("isValid(datum.shown_paper)")
        .mark_point(size=45, **point)
        .encode(
            x="shown_paper:Q",
            color=alt.ColorDatum(PRINTED),
            shape=alt.ShapeDatum(PRINTED),
            tooltip=tooltip,
        ),
        line.mark_point(size=70, **point).encode(x=x, tooltip=tooltip, **looks),
        data=ROWS,
    )
    return spec_of(headed(_in_unit(chart, unit)), alt.Step(LINE))


def _in_unit(chart: Layers, unit: Unit) -> Layers:
    """Add every number as it is shown, and as text."""
    signed = f"+{unit.digits}"
    shown = scaled(
        unit.factor,
        shown_gain="gain",
        shown_low="low",
        shown_high="high",
        shown_detectable="detectable",
        shown_paper="paper_gain",
    )
    texts = worded(
        shown_low=signed,
        shown_high=signed,
        shown_detectable=unit.digits,
        shown_paper=signed,
        p_holm=".3~g",
    )
    return chart.transform_calculate(**shown).transform_calculate(**texts)


def _looks(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Colour and shape by verdict; the legend has what occurs."""
    present = {row["verdict"] for row in rows}
    if any(row["paper_gain"] is not None for row in rows):
        present.add(PRINTED)
    entries = legend([name for name in LOOKS if name in present])
    colours, shapes = zip(*LOOKS.values(), strict=True)
    colour = alt.Scale(domain=list(LOOKS), range=list(colours))
    shape = alt.Scale(domain=list(LOOKS), range=list(shapes))
    return {
        "color": alt.Color("verdict:N", scale=colour, legend=entries),
        "shape": alt.Shape("verdict:N", scale=shape, legend=entries),
    }


def _tooltip(unit: Unit) -> list[alt.Tooltip]:
    points = " (points)" if unit.percent else ""
    return [
        alt.Tooltip("place:N", title="Graph"),
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("against:N", title="Against"),
        alt.Tooltip("shown_gain:Q", title=f"Gain{points}", format=f"+{unit.digits}"),
        alt.Tooltip("shown_low_text:N", title="Interval from"),
        alt.Tooltip("shown_high_text:N", title="Interval to"),
        alt.Tooltip("p_holm_text:N", title="p (Holm)"),
        alt.Tooltip("verdict:N", title="Verdict"),
        alt.Tooltip("shown_detectable_text:N", title="Smallest detectable"),
        alt.Tooltip("shown_paper_text:N", title="In the paper"),
        alt.Tooltip("units:Q", title="Pairs"),
    ]


def _text(contrasts: Sequence[Contrast], unit: Unit, *, rival: bool) -> str:
    verdicts = [contrast.verdict for contrast in contrasts]
    counts = ", ".join(
        f"{verdicts.count(verdict)} {name}"
        for verdict, name in (
            *(("better", "better"), ("worse", "worse")),
            *(("undecided", "undecided"), ("none", "without a verdict")),
        )
        if verdict in verdicts
    )
    most = max(contrasts, key=lambda contrast: contrast.gain)
    least = min(contrasts, key=lambda contrast: contrast.gain)
    printed = sum(contrast.paper_gain is not None for contrast in contrasts)
    against = "another regularizer" if rival else "its plain backbone"
    return (
        f"Paired gain of each method over {against} on the same finals, with its 95 % interval; "
        f"right of the dashed line is better. {len(contrasts)} comparisons: {counts} (p "
        f"corrected by Holm, intervals not). Largest: {_named(most, unit)}. "
        f"Smallest: {_named(least, unit)}."
        + (f" Diamonds: the gains that the paper prints ({printed})." if printed else "")
    )


def _named(contrast: Contrast, unit: Unit) -> str:
    over = f" over {short(contrast.against)}" if contrast.rival else ""
    place = place_name(contrast.graph, contrast.condition)
    interval = ""
    if contrast.half is not None:
        low, high = contrast.gain - contrast.half, contrast.gain + contrast.half
        interval = f" ({unit.gain(low)} to {unit.gain(high)})"
    return f"{short(contrast.method)}{over} on {place}, {unit.gain(contrast.gain)}{interval}"
