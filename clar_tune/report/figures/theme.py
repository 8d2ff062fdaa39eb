"""One look for all figures: colours, fonts, and what light and dark change."""

from typing import Any

BLUE, ORANGE, GREY, PURPLE = "#2f7fc1", "#d1601f", "#7d858f", "#9467bd"
TEAL, MUSTARD, BROWN = "#2a9d8f", "#a8923a", "#95604f"
"""Marks with a meaning; each stands out on white and on a dark page alike."""

REGULARIZERS = ("none", "clar", "nl", "preg", "madreg", "dropedge", "adagraph")
"""Their places in the palette: a regularizer has one colour in every figure."""
FREE = (2, 3, 5, 4, 7, 6, 1, 0)
"""All places of the palette, those that differ most from the first two before the others."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (10, 4), (4, 2, 1, 2))
"""Backbones are told apart by shapes and dashes, in the order in which they occur."""

FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts with the same widths, so that files look alike on every machine."""


def _config(
    *, ink: str, soft: str, grid: str, paper: str, category: list[str], ramp: list[str]
) -> dict[str, Any]:
    text = {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "labelColor": soft,
        "titleColor": ink,
        "titleFontWeight": "normal",
    }
    lines = {"gridColor": grid, "domainColor": soft, "tickColor": soft}
    symbols = {
        "symbolStrokeWidth": 1.5,
        "symbolBaseFillColor": soft,
        "symbolBaseStrokeColor": soft,
    }
    stacked = {"top": {"direction": "vertical", "margin": 4, "anchor": "start"}}
    return {
        "background": "transparent",
        "font": FONT,
        "aria": False,  # every figure has a text beside it; thousands of marks need none
        "padding": 4,
        "view": {"stroke": None},
        "axis": {**text, **lines, "labelLimit": 190, "titlePadding": 8, "labelFlush": False},
        "legend": {**text, **symbols, "labelLimit": 160, "orient": "top", "layout": stacked},
        "range": {"category": category, "ramp": ramp, "heatmap": ramp, "symbol": list(SHAPES)},
        "scale": {"invalid": {"color": {"value": GREY}}},  # what has no score
        "style": _styles(ink, soft, grid, paper),
    }


def _styles(ink: str, soft: str, grid: str, paper: str) -> dict[str, dict[str, Any]]:
    """Marks that follow the page; charts name them by what they are for."""
    return {
        "reference": {"color": soft, "strokeWidth": 1.2, "strokeDash": [4, 3]},
        "course": {"color": soft, "strokeWidth": 1.4},
        "outline": {"color": ink, "strokeWidth": 1.4},
        "stem": {"color": soft, "strokeWidth": 1},
        "clique": {"color": ink, "strokeWidth": 4, "strokeCap": "round"},
        "divider": {"color": grid, "strokeWidth": 1},
        "note": {"color": ink, "fontSize": 11},
        "small": {"color": ink, "fontSize": 10},
        "halo": {"color": paper, "stroke": paper, "strokeWidth": 3, "fontSize": 10},
    }


LIGHT = _config(
    ink="#1f2328",
    soft="#57606a",
    grid="#d8dee4",
    paper="#ffffff",
    category=[
        *("#6e7781", "#0072b2", "#d55e00", "#00855f", "#a8479a", "#8a6d00", "#3c8dbc", "#1f2328"),
    ],
    ramp=["#bcd3e8", "#86b3d8", "#4f90c6", "#2a6aa8", "#123f7a", "#0b2550"],
)
"""Vega-Lite's ``config`` on a light page."""

DARK = _config(
    ink="#e6edf3",
    soft="#a5afba",
    grid="#373e47",
    paper="#161b22",
    category=[
        *("#9aa4af", "#56b4e9", "#f0883e", "#2fc596", "#e08bd0", "#e6c229", "#8ab4f8", "#f0f6fc"),
    ],
    ramp=["#24405f", "#2f6090", "#3f86bf", "#6aaede", "#a5d3f2", "#e2f2fd"],
)
"""Vega-Lite's ``config`` on a dark page."""

FILES = {**LIGHT, "background": "#ffffff"}
"""Vega-Lite's ``config`` in files."""
