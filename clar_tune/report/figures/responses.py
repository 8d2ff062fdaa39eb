"""Learned filters: what trained gpr and cheby let through of each frequency."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from clar_tune.analysis import Place, RunView, StudyView, responses
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import ONCE, ROWS, spec_of
from clar_tune.report.figures.names import file_stem, place_name, short
from clar_tune.report.figures.places import by_place
from clar_tune.report.figures.scales import stroke_scales

HEIGHT = 300
EIGENVALUES = np.linspace(0.0, 2.0, 41)
"""The normalised Laplacian of any graph has its eigenvalues here."""
WHOLE = "filter"
"""What the response of a whole network is called; others are those of layers."""

Responses = NDArray[np.float64]


def response_figures(runs: Sequence[RunView]) -> Iterator[Figure]:
    """A line per learned filter, over the finals of its winner; one figure per row."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for where, studies in by_place(runs).items():
        for line, own in _responses(where[2], studies).items():
            found.setdefault(where[:2], []).extend(_rows(where, line, own))
    for (graph, condition), listed in found.items():
        rows, place = tuple(listed), place_name(graph, condition)
        yield Figure(
            name=file_stem("responses", graph, condition),
            kind="responses",
            title=f"Learned responses on {place}",
            text=_text(rows, place),
            rows=rows,
            spec=_spec(rows),
        )


def _responses(label: str, studies: Sequence[StudyView]) -> dict[str, Responses]:
    """All finals of each filter [finals, eigenvalues], by the name of its line."""
    found: dict[str, list[Responses]] = {}
    for study in studies:
        for final in study.finals:
            for name, response in responses(final.facts, EIGENVALUES).items():
                line = label if name == WHOLE else f"{label} {name}"
                found.setdefault(line, []).append(response)
    return {line: np.array(own) for line, own in found.items()}


def _rows(place: Place, line: str, own: Responses) -> Iterator[dict[str, Any]]:
    graph, condition, label = place
    lows, means, highs = own.min(axis=0), own.mean(axis=0), own.max(axis=0)
    for index, eigenvalue in enumerate(EIGENVALUES.tolist()):
        yield {
            "graph": graph,
            "condition": condition,
            "method": label,
            "line": line,
            "eigenvalue": round(eigenvalue, 6),
            "mean": float(means[index]),
            "low": float(lows[index]),
            "high": float(highs[index]),
            "finals": len(own),
        }


def _spec(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    looks = stroke_scales(list(dict.fromkeys(row["line"] for row in rows)), "line")
    scale = alt.Scale(domain=[0, 2], nice=False)
    title = "Eigenvalue of the Laplacian: 0 smooth, 2 rough"
    x = alt.X("eigenvalue:Q", title=title, scale=scale, axis=alt.Axis(grid=False, tickCount=8))
    y: dict[str, Any] = {"title": "Response, its largest size 1"}
    base = alt.Chart().encode(x=x, color=looks["color"])
    tooltip = [
        alt.Tooltip("line:N", title="Filter"),
        alt.Tooltip("eigenvalue:Q", title="Eigenvalue", format=".2f"),
        alt.Tooltip("mean:Q", title="Mean", format=".3f"),
        alt.Tooltip("low:Q", title="Lowest", format=".3f"),
        alt.Tooltip("high:Q", title="Highest", format=".3f"),
        alt.Tooltip("finals:Q", title="Finals"),
    ]
    chart = alt.layer(
        alt.Chart(ONCE).mark_rule(style="reference").encode(y=alt.YDatum(0)),
        base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", **y), y2="high:Q"),
        base.mark_line(strokeWidth=1.8).encode(
            y=alt.Y("mean:Q", **y), strokeDash=looks["strokeDash"], tooltip=tooltip
        ),
        data=ROWS,
    )
    return spec_of(chart, HEIGHT)


def _text(rows: Sequence[Mapping[str, Any]], place: str) -> str:
    lines: dict[str, dict[float, float]] = {}
    for row in rows:
        lines.setdefault(row["line"], {})[row["eigenvalue"]] = row["mean"]
    named = "; ".join(
        f"{short(line, 40)} {own[0.0]:.2f} at 0, {own[1.0]:.2f} at 1, {own[2.0]:.2f} at 2"
        for line, own in lines.items()
    )
    return (
        f"What filters learned on {place} make of each frequency, as a part of what they make of "
        "the one that passes best: mean over finals, shaded from the lowest to the highest of "
        "them. High eigenvalues are high frequencies. gpr's are those of the graph with "
        f"self-loops, which end below 2. {named}."
    )
