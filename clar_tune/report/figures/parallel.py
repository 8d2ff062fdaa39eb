"""Configurations of a search as parallel coordinates."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import altair as alt

from clar_tune.report.blocks import Spec
from clar_tune.report.figures.axes import LOWEST, Axis, axes_of, height_of
from clar_tune.report.figures.charts import ONCE, ROWS, scaled, spec_of, winner_param, worded
from clar_tune.report.figures.names import short
from clar_tune.report.figures.trials import Trials
from clar_tune.report.figures.units import Unit


def parallel_spec(trials: Trials) -> Spec | None:
    """A line per trial over all parameters that vary; none without any, or without scores."""
    if not trials.parameters or len(trials.scored) < 2:
        return None
    axes = axes_of(trials)
    spec = _spec(trials.unit, len(axes), any(axis.missing for axis in axes))
    lines, best, *labels = spec["layer"]
    encoding = {**lines["encoding"], "tooltip": _tooltip(trials)}
    scales = {"name": "axes", "value": [axis.scale for axis in axes]}
    ticks = {"values": _ticks(axes, trials.unit)}
    return {
        **spec,
        "params": [*spec["params"], scales, winner_param(trials.study)],
        "layer": [
            {**lines, "encoding": encoding},
            best,
            *({**layer, "data": ticks} for layer in labels),
        ],
    }


def parallel_text(trials: Trials) -> str:
    """What the best fifth of the trials has in common."""
    unit = trials.unit
    sign = -1 if unit.lower_is_better else 1
    ordered = sorted(trials.scored, key=lambda row: -sign * row["val_score"])
    top = ordered[: max(2, len(ordered) // 5)]
    common = "; ".join(
        f"{short(name, 40)} {_span([row[column] for row in top])}"
        for name, column in trials.parameters.items()
    )
    return (
        f"A line per trial through its parameters to its validation score; the stronger its "
        f"colour, the better. The thick line is the winner. The {len(top)} highest scores of "
        f"{len(ordered)}, from {unit.score(top[-1]['val_score'])} to "
        f"{unit.score(top[0]['val_score'])}, have {common}."
    )


def _span(cells: Sequence[float | str | None]) -> str:
    found = {cell for cell in cells if cell is not None}
    numbers = sorted(cell for cell in found if not isinstance(cell, str))
    names = sorted(cell for cell in found if isinstance(cell, str))
    if len(numbers) > 2 and not names:
        return f"{numbers[0]:.3g} to {numbers[-1]:.3g}"
    shown = [*(f"{number:.3g}" for number in numbers), *(short(name, 20) for name in names)]
    return " or ".join(shown) or "no value"


def _ticks(axes: Sequence[Axis], unit: Unit) -> list[dict[str, Any]]:
    ticks = []
    for place, axis in enumerate(axes):
        is_score = place == len(axes) - 1
        found = [(at, unit.score(float(v)) if is_score else _label(v)) for at, v in axis.ticks]
        found += [(LOWEST, "failed" if is_score else "–")] * axis.missing
        ticks += [
            {"axis": f"axis_{place:02d}", "place": at, "label": label} for at, label in found
        ]
    return ticks


def _label(value: float | str) -> str:
    return short(value, 14) if isinstance(value, str) else f"{value:.3g}"


def _tooltip(trials: Trials) -> list[dict[str, str]]:
    """Everything about a trial; names may hold what Vega-Lite would read as a path."""
    own = {
        "trial": "Trial",
        "state": "State",
        "repeats": "Repeats",
        "score_text": "Mean validation score",
    }
    params = {
        re.sub(r"([.\[\]\\'\"])", r"\\\1", column): short(name, 40)
        for name, column in trials.parameters.items()
    }
    named = {**own, **params}
    return [{"field": f, "title": title, "type": "nominal"} for f, title in named.items()]


@cache
def _spec(unit: Unit, count: int, lost: bool) -> dict[str, Any]:
    bottom = (LOWEST if lost else 0) - 0.04
    x = alt.X("axis:N", axis=_names(), scale=alt.Scale(padding=0.3))
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[bottom, 1.04], nice=False))
    label = alt.Chart(ONCE).encode(x=x, y=y, text="label:N")
    room = alt.ExprRef(f"max(24, width / {count} - 6)")
    beside: dict[str, Any] = {"align": "left", "dx": 5, "limit": room}
    names: list[str | alt.FieldName] = [f"axis_{place:02d}" for place in range(count)]
    chart = (
        alt.layer(
            *_lines(unit, x, y),
            label.mark_text(style="halo", **beside),
            label.mark_text(style="small", **beside),
            data=ROWS,
        )
        .transform_calculate(
            **scaled(unit.factor, score="val_score"),
            **{f"axis_{place:02d}": height_of(place) for place in range(count)},
        )
        .transform_calculate(**worded(score=unit.digits))
        .transform_fold(names, as_=["axis", "place"])
    )
    return spec_of(chart, 300)


def _lines(unit: Unit, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """All trials, of which the one under the pointer stands out, and the winner above them."""
    hover = alt.selection_point(
        name="hover", fields=["trial"], on="pointerover", clear="pointerout", empty=False
    )
    scale = alt.Scale(zero=False, reverse=unit.lower_is_better)
    colour = alt.Color("score:Q", legend=None, scale=scale)
    line = alt.Chart().mark_line(invalid="show").encode(x=x, y=y, detail="trial:N", color=colour)
    return [
        line.encode(
            # Not opacity: a layer of its own for each line makes PNG files slow.
            strokeOpacity=alt.when(hover).then(alt.value(1)).otherwise(alt.value(0.65)),
            strokeWidth=alt.when(hover).then(alt.value(3.5)).otherwise(alt.value(1.3)),
        )
        .add_params(hover)
        .properties(name="lines"),
        line.transform_filter("datum.trial == winner").encode(strokeWidth=alt.value(3)),
    ]


def _names() -> alt.Axis:
    return alt.Axis(
        labelExpr="axes[+slice(datum.value, 5)].name",
        orient="top",
        labelAngle=-30,
        labelAlign="left",
        labelLimit=110,
        domain=False,
        ticks=False,
        grid=True,
        title=None,
    )
