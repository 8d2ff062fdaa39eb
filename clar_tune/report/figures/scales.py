"""Colours and shapes with their legends; nothing is told by its colour alone."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from clar_tune.analysis import split_label
from clar_tune.report.figures.theme import BLUE, DASHES, FREE, GREY, ORANGE, REGULARIZERS, SHAPES

ONE_LINE = r"replace(truncate(datum.label, 60), regexp('\\s+', 'g'), ' ')"
"""How axes and legends show names, which may be long or hold line breaks."""
DASHED = "dashes of "
STATES = ("complete", "pruned", "failed", "running")


def legend(values: Sequence[str], title: str | None = None, **look: Any) -> alt.Legend:
    """A legend of some values of its scale, in as many columns as the page is wide."""
    longest = max((len(value) for value in values), default=0)
    entry, first = 30 + 6.5 * min(longest, 24), 180 if title else 100
    # The width of the page, not of the plot: that changes while Vega makes room for legends.
    # It is named here only to be looked at again when it changes; files have no page.
    page = "((width ? containerSize()[0] : 0) || 700)"
    return alt.Legend(
        title=title,
        titleOrient="left" if title else alt.Undefined,
        values=list(values),
        columns=alt.ExprRef(f"max(1, floor(({page} - {first}) / {entry}))"),
        labelExpr=ONE_LINE,
        symbolOpacity=1,
        **look,
    )


def state_scales(states: Iterable[str]) -> dict[str, Any]:
    """Colour and shape of trials by state."""
    present = set(states)
    entries = legend([state for state in STATES if state in present])
    colours = alt.Scale(domain=STATES, range=[BLUE, GREY, ORANGE, GREY])
    shapes = alt.Scale(domain=STATES, range=["circle", "triangle-down", "cross", "diamond"])
    return {
        "color": alt.Color("state:N", scale=colours, legend=entries),
        "shape": alt.Shape("state:N", scale=shapes, legend=entries),
    }


def parts_of(label: str) -> dict[str, str]:
    """Backbone and regularizer of a column, as columns of a figure's data."""
    backbone, _, regularizer = split_label(label)[0].partition("+")
    return {"backbone": backbone, "regularizer": regularizer or "none"}


def method_scales(methods: Iterable[str]) -> dict[str, Any]:
    """Colour of methods by regularizer, shape by backbone."""
    names = [parts_of(method) for method in methods]
    regularizers = list(dict.fromkeys(name["regularizer"] for name in names))
    backbones = list(dict.fromkeys(name["backbone"] for name in names))
    own = [name for name in regularizers if name not in REGULARIZERS]
    return {
        "color": alt.Color(
            "regularizer:N",
            scale=alt.Scale(domain=[*REGULARIZERS, *own]),
            legend=legend(regularizers, "Regularizer", symbolType="square"),
        ),
        "shape": alt.Shape(
            "backbone:N",
            scale=alt.Scale(domain=backbones, range=_enough(SHAPES, len(backbones))),
            legend=legend(backbones, "Backbone"),
        ),
    }


def line_scales(labels: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Colour, shape and dashes of lines, and the field that dashes are of.

    Lines look as their methods do everywhere, unless some differ in their condition alone.
    """
    kinds = {tuple(parts_of(label).values()) for label in labels}
    if len(kinds) < len(labels):
        return label_scales(labels), "method"
    return {**method_scales(labels), "strokeDash": _backbone_dashes(labels)}, "backbone"


def _backbone_dashes(labels: Iterable[str]) -> alt.StrokeDash:
    """Dashes of lines by backbone; the field ``dashes`` is ``DASHED`` and its name.

    Vega-Lite joins legends of equal domains, and that of dashes is not shown.
    """
    backbones = dict.fromkeys(parts_of(label)["backbone"] for label in labels)
    domain = [DASHED + backbone for backbone in backbones]
    scale = alt.Scale(domain=domain, range=_enough(DASHES, len(domain)))
    return alt.StrokeDash("dashes:N", scale=scale, legend=None)


def label_scales(labels: Sequence[str]) -> dict[str, Any]:
    """Colour, shape and dashes of columns, each its own, by the fields ``method`` and ``dashes``.

    The first column of a regularizer has its colour, the others those of regularizers that do
    not occur. ``dashes`` is ``DASHED`` and the name: dashes around a symbol would blur it.
    """
    colours, order = _palette(labels), {label: nth for nth, label in enumerate(labels)}
    shapes = [SHAPES[order.get(name, 0) % len(SHAPES)] for name in colours]
    dashes = alt.Scale(
        domain=[DASHED + label for label in labels], range=_enough(DASHES, len(labels))
    )
    entries = legend(labels)
    return {
        "color": alt.Color("method:N", scale=alt.Scale(domain=colours), legend=entries),
        "shape": alt.Shape(
            "method:N", scale=alt.Scale(domain=colours, range=shapes), legend=entries
        ),
        "strokeDash": alt.StrokeDash("dashes:N", scale=dashes, legend=None),
    }


def stroke_scales(labels: Sequence[str], field: str) -> dict[str, Any]:
    """Colour and dashes of lines without points, by a field with their names."""
    colours, order = _palette(labels), {label: nth for nth, label in enumerate(labels)}
    dashes = [DASHES[order.get(name, 0) % len(DASHES)] for name in colours]
    look: dict[str, Any] = {"legend": legend(labels, symbolType="stroke", symbolStrokeWidth=2.5)}
    return {
        "color": alt.Color(f"{field}:N", scale=alt.Scale(domain=colours), **look),
        "strokeDash": alt.StrokeDash(
            f"{field}:N", scale=alt.Scale(domain=colours, range=dashes), **look
        ),
    }


def _palette(labels: Sequence[str]) -> list[str]:
    """Names in the order of the palette; places that nobody has get some name too."""
    places = _places(labels)
    return [places.get(place, f"unused {place}") for place in range(max(places) + 1)]


def _places(labels: Iterable[str]) -> dict[int, str]:
    """Places in the palette and who has them."""
    found: dict[int, str] = {}
    later = []
    for label in labels:
        regularizer = parts_of(label)["regularizer"]
        wanted = REGULARIZERS.index(regularizer) if regularizer in REGULARIZERS else None
        if wanted is None or wanted in found:
            later.append(label)
        else:
            found[wanted] = label
    free = [place for place in FREE if place not in found]
    free += range(len(FREE), len(FREE) + len(later))
    return {**found, **dict(zip(free, later, strict=False))}


def _enough(looks: Sequence[Any], count: int) -> list[Any]:
    """As many looks as asked for; they repeat where there are fewer."""
    return [looks[place % len(looks)] for place in range(count)]
