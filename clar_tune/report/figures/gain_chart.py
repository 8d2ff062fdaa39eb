"""The forest plot of gains: a point with its interval per comparison, and the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any

import altair as alt

from clar_tune.report.figures.charts import (
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
from clar_tune.report.figures.scales import legend
from clar_tune.report.figures.theme import BLUE, BROWN, GREY, MUSTARD, ORANGE, PURPLE, TEAL
from clar_tune.report.figures.units import Unit

NO_VERDICT, PRINTED = "no verdict", "in the paper"
LOOKS = {
    "better": (BLUE, "triangle-right"),
    "worse": (ORANGE, "triangle-left"),
    "undecided": (GREY, "circle"),
    "equal": (TEAL, "square"),
    "unused": (MUSTARD, "triangle-up"),
    "at the floor": (BROWN, "triangle-down"),
    NO_VERDICT: (GREY, "cross"),
    PRINTED: (PURPLE, "diamond"),
}
"""Colour and shape of each outcome; the shapes point to where it stands."""
TURNED = {"triangle-right": "triangle-left", "triangle-left": "triangle-right"}
"""Shapes where better is left."""
FEW, WIDE = 8, 2.0
"""Comparisons from which on the axis may be cut, and how much wider an interval must then be."""


@dataclass(frozen=True, slots=True)
class Measure:
    """What the plot shows: differences of scores, or ratios of errors."""

    title: str
    unit: Unit

    @property
    def of_errors(self) -> bool:
        """Whether values are ratios of errors."""
        return self.unit.lower_is_better

    @property
    def fields(self) -> tuple[str, str, str, str]:
        """The columns of the value, the ends of its interval, and the paper's value."""
        if self.of_errors:
            return "ratio", "ratio_low", "ratio_high", "paper_ratio"
        return "gain", "low", "high", "paper_gain"

    @property
    def none(self) -> int:
        """The value of no difference."""
        return 1 if self.of_errors else 0

    @property
    def digits(self) -> str:
        """How Vega formats a value."""
        return ".4f" if self.of_errors else f"+{self.unit.digits}"

    def prose(self, value: float) -> str:
        """A value in a text."""
        return f"{value:.4f}" if self.of_errors else self.unit.gain(value)


def edge_of(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """How far from zero gains are drawn, if some intervals are so wide that others would vanish.

    In points. All gains stay inside, and three of four intervals as a whole.
    """
    ends = [max(abs(row["low"]), abs(row["high"])) for row in rows if row["low"] is not None]
    if len(ends) < FEW:
        return None
    inside = [abs(row[name]) for row in rows for name in ("gain", "paper_gain") if row[name]]
    edge = 1.1 * max([*inside, quantiles(ends, n=4)[2]])
    return round(100 * edge, 2) if max(ends) > WIDE * edge else None


def gain_spec(rows: Sequence[Mapping[str, Any]], measure: Measure) -> dict[str, Any]:
    """A line per comparison, under the names of graphs."""
    looks = _looks(rows, measure)
    edge = None if measure.of_errors else edge_of(rows)
    limits: dict[str, Any] = {} if edge is None else {"domain": [-edge, edge]}
    scale = alt.Scale(nice=False, zero=False, padding=10, **limits)
    x = alt.X("shown_gain:Q", title=measure.title, scale=scale)
    line = alt.Chart().transform_filter("datum.part").encode(y=heading_axis())
    tooltip = _tooltip(measure)
    point: dict[str, Any] = {"filled": True, "opacity": 1}
    layers = [
        headings(),
        alt.Chart(ONCE).mark_rule(style="reference").encode(x=alt.XDatum(measure.none)),
        line.mark_rule(strokeWidth=2).encode(
            x="drawn_low:Q", x2="drawn_high:Q", color=looks["color"]
        ),
        *_arrows(line, looks, edge),
        line.mark_point(size=70, **point).encode(x=x, tooltip=tooltip, **looks),
    ]
    if _is_printed(rows, measure):
        printed = line.transform_filter("isValid(datum.shown_paper)").encode(
            x="shown_paper:Q",
            color=alt.ColorDatum(PRINTED),
            shape=alt.ShapeDatum(PRINTED),
            tooltip=tooltip,
        )
        layers.insert(-1, printed.mark_point(size=45, **point))
    chart = alt.layer(*layers, data=ROWS)
    return spec_of(headed(_shown(chart, measure, edge)), alt.Step(LINE))


def _arrows(line: alt.Chart, looks: dict[str, Any], edge: float | None) -> list[alt.Chart]:
    """At the edge, where an interval goes on."""
    if edge is None:
        return []
    return [
        line.transform_filter(f"{sign} * datum.shown_{end} > {edge}")
        .mark_point(size=40, filled=True, opacity=1, shape=shape)
        .encode(x=f"drawn_{end}:Q", color=looks["color"])
        for sign, end, shape in ((-1, "low", "triangle-left"), (1, "high", "triangle-right"))
    ]


def _is_printed(rows: Sequence[Mapping[str, Any]], measure: Measure) -> bool:
    """Whether the paper has any of the values."""
    return any(row[measure.fields[-1]] is not None for row in rows)


def _shown(chart: Layers, measure: Measure, edge: float | None) -> Layers:
    """Add every number as it is shown, and as text."""
    names = ("shown_gain", "shown_low", "shown_high", "shown_paper")
    fields = dict(zip(names, measure.fields, strict=True))
    shown = scaled(measure.unit.factor, **fields, shown_detectable="detectable")
    texts = worded(
        shown_gain=measure.digits,
        shown_low=measure.digits,
        shown_high=measure.digits,
        shown_detectable=measure.unit.digits,
        shown_paper=measure.digits,
        p_holm=".3~g",
    )
    # Without any interval Vega would look in vain for the ends of an axis: it is a point then.
    ends = {
        f"drawn_{end}": f"isValid(datum.shown_{end}) ? datum.shown_{end} : datum.shown_gain"
        for end in ("low", "high")
    }
    if edge is not None:
        ends = {name: f"clamp({end}, {-edge}, {edge})" for name, end in ends.items()}
    return chart.transform_calculate(**shown).transform_calculate(**texts, **ends)


def _looks(rows: Sequence[Mapping[str, Any]], measure: Measure) -> dict[str, Any]:
    """Colour and shape by verdict; the legend has what occurs."""
    present = {row["verdict"] for row in rows}
    if _is_printed(rows, measure):
        present.add(PRINTED)
    entries = legend([name for name in LOOKS if name in present])
    colours, shapes = zip(*LOOKS.values(), strict=True)
    if measure.of_errors:
        shapes = tuple(TURNED.get(shape, shape) for shape in shapes)
    colour = alt.Scale(domain=list(LOOKS), range=list(colours))
    shape = alt.Scale(domain=list(LOOKS), range=list(shapes))
    return {
        "color": alt.Color("verdict:N", scale=colour, legend=entries),
        "shape": alt.Shape("verdict:N", scale=shape, legend=entries),
    }


def _tooltip(measure: Measure) -> list[alt.Tooltip]:
    what = "Ratio" if measure.of_errors else "Gain (points)"
    return [
        alt.Tooltip("place:N", title="Graph"),
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("against:N", title="Against"),
        alt.Tooltip("shown_gain_text:N", title=what),
        alt.Tooltip("shown_low_text:N", title="Interval from"),
        alt.Tooltip("shown_high_text:N", title="Interval to"),
        alt.Tooltip("p_holm_text:N", title="p (Holm)"),
        alt.Tooltip("verdict:N", title="Verdict"),
        alt.Tooltip("shown_detectable_text:N", title="Smallest detectable"),
        alt.Tooltip("shown_paper_text:N", title="In the paper"),
        alt.Tooltip("units:Q", title="Pairs"),
    ]
