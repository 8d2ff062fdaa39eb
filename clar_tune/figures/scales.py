"""Colours and shapes with their legends; nothing is told by its colour alone."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from clar_tune.figures.theme import BLUE, DASHES, GREY, ORANGE, REGULARIZERS, SHAPES

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


def method_scales(methods: Iterable[str]) -> dict[str, Any]:
    """Colour of methods by regularizer, shape by backbone."""
    names = [method.partition("+") for method in methods]
    regularizers = list(dict.fromkeys(regularizer or "none" for _, _, regularizer in names))
    backbones = list(dict.fromkeys(backbone for backbone, _, _ in names))
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


def backbone_dashes(methods: Iterable[str]) -> alt.StrokeDash:
    """Dashes of lines by backbone; the field ``dashes`` is ``DASHED`` and its name.

    Vega-Lite joins legends of equal domains, and that of dashes is not shown.
    """
    backbones = dict.fromkeys(method.partition("+")[0] for method in methods)
    domain = [DASHED + backbone for backbone in backbones]
    scale = alt.Scale(domain=domain, range=_enough(DASHES, len(domain)))
    return alt.StrokeDash("dashes:N", scale=scale, legend=None)


def _enough(looks: Sequence[Any], count: int) -> list[Any]:
    """As many looks as asked for; they repeat where there are fewer."""
    return [looks[place % len(looks)] for place in range(count)]
