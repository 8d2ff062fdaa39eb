"""What all charts are built with: named data, sizes, and lines under headings."""

from typing import Any

import altair as alt

from clar_tune.overview import StudyView

ROWS = alt.NamedData("rows")
ONCE = alt.InlineData(values=[{}])
"""Data of a layer with a single mark, such as a zero line."""
Layers = alt.LayerChart | alt.FacetChart
"""What altair says that a transformed layered chart is."""
LINE = 18
"""Height of a line of text with its mark, in pixels."""


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
    that a page may filter rows. A line's key is a number of five digits, even for a heading,
    followed by what is shown.
    """
    place = "datum.condition ? datum.graph + ' (' + datum.condition + ')' : datum.graph"
    key = "format(2 * datum.line + datum.part, '05d') + (datum.part ? datum.label : datum.place)"
    return (
        chart.transform_window(
            nth="row_number()", groupby=["graph", "condition"], sort=[alt.SortField("line")]
        )
        .transform_calculate(place=place, part="datum.nth == 1 ? [0, 1] : [1]")
        .transform_flatten(["part"])
        .transform_calculate(key=key)
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


def winner_param(study: StudyView) -> dict[str, Any]:
    """The number of the winning trial as a signal, so that charts of a kind share one spec."""
    return {"name": "winner", "value": -1 if study.winner is None else study.winner.trial}
