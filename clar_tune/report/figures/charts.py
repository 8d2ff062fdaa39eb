"""What all charts are built with: named data, sizes, and lines under headings."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from clar_tune.analysis import StudyView

ROWS = alt.NamedData("rows")
ONCE = alt.InlineData(values=[{}])
"""Data of a layer with a single mark, such as a zero line."""
Layers = alt.LayerChart | alt.FacetChart
"""What altair says that a transformed layered chart is."""
LINE = 18
"""Height of a line of text with its mark, in pixels."""
LETTER = 6
"""Width of a character of small text, in pixels, at most on average."""
MOST_LINES = 150
"""Lines under headings that are drawn; more would be a wall."""


def spec_of(chart: Layers, height: int | alt.Step) -> dict[str, Any]:
    """A chart as Vega-Lite that fills the width of its page and takes the page's theme."""
    # Inline data stay in their layers: the page's ``datasets`` holds ``rows`` and nothing else.
    with alt.data_transformers.enable(consolidate_datasets=False):
        spec: dict[str, Any] = chart.properties(width="container", height=height).to_dict()
    del spec["config"]
    return spec


def scaled(factor: int, **fields: str) -> dict[str, str]:
    """Expressions for fields in the unit of the page; what is missing stays so."""
    return {
        name: f"isValid(datum.{field}) ? {factor} * datum.{field} : null"
        for name, field in fields.items()
    }


def worded(**formats: str) -> dict[str, str]:
    """Expressions for fields as texts ``NAME_text``; Vega would write a missing number as 0."""
    return {
        f"{field}_text": f"isValid(datum.{field}) ? format(datum.{field}, '{digits}') : '–'"
        for field, digits in formats.items()
    }


def headed(chart: Layers) -> Layers:
    """Put lines under headings: the first row of each graph and condition adds a heading.

    Rows need ``line``, their place in the order, and ``label``. The lines follow the data, so
    that a page may filter rows; the first ``MOST_LINES`` are drawn. A line's key is a number of
    five digits, even for a heading, followed by what is shown.
    """
    place = "datum.condition ? datum.graph + ' (' + datum.condition + ')' : datum.graph"
    key = "format(2 * datum.line + datum.part, '05d') + (datum.part ? datum.label : datum.place)"
    return (
        chart.transform_window(shown="row_number()", sort=[alt.SortField("line")])
        .transform_filter(f"datum.shown <= {MOST_LINES}")
        .transform_window(
            nth="row_number()", groupby=["graph", "condition"], sort=[alt.SortField("line")]
        )
        .transform_calculate(place=place, part="datum.nth == 1 ? [0, 1] : [1]")
        .transform_flatten(["part"])
        .transform_calculate(key=key)
    )


def excerpt_note(rows: Sequence[Any]) -> str:
    """What to add to the text of a figure that does not draw all of its lines."""
    if len(rows) <= MOST_LINES:
        return ""
    return (
        f" Drawn are the first {MOST_LINES} of {len(rows):,} lines; the filter brings up others, "
        "and the data have all."
    )


def heading_axis() -> alt.Y:
    """The axis of lines under headings, which are bold."""
    heading = "+slice(datum.value, 0, 5) % 2 == 0"
    axis = alt.Axis(
        labelExpr="truncate(slice(datum.value, 5), 60)",
        labelFontWeight={"condition": {"test": heading, "value": "bold"}, "value": "normal"},
        labelFontSize={"condition": {"test": heading, "value": 12}, "value": 11},
        domain=False,
        ticks=False,
        grid=False,
        title=None,
        labelPadding=6,
    )
    return alt.Y("key:N", axis=axis)


def headings() -> alt.Chart:
    """A thin line behind each heading."""
    rule: alt.Chart = alt.Chart().mark_rule(style="divider").encode(y=heading_axis())
    return rule.transform_filter("!datum.part")


def beside(*texts: str) -> list[Any]:
    """The range of a horizontal scale that leaves room for texts at its right.

    Marks may reach over the edge of a chart, but Vega makes no room for them: they are cut off.
    """
    room = sum(LETTER * (len(text) + 1) for text in texts)
    return [0, {"expr": f"width - {room}"}]


def whole_ticks(span: int) -> int:
    """How many ticks an axis of whole numbers is asked for: none may fall between two of them."""
    return max(1, min(10, span))


def winner_param(study: StudyView) -> dict[str, Any]:
    """The number of the winning trial as a signal, so that charts of a kind share one spec."""
    return {"name": "winner", "value": -1 if study.winner is None else study.winner.trial}
