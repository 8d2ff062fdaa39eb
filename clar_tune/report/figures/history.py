"""The scores of a search, trial by trial."""

from collections import Counter
from functools import cache
from statistics import median
from typing import Any

import altair as alt

from clar_tune.analysis import counted
from clar_tune.report.blocks import Spec
from clar_tune.report.figures.charts import (
    ROWS,
    scaled,
    spec_of,
    whole_ticks,
    winner_param,
    worded,
)
from clar_tune.report.figures.scales import STATES, state_scales
from clar_tune.report.figures.trials import Trials
from clar_tune.report.figures.units import Unit

LOST = "datum.state == 'failed' && !isValid(datum.score)"


def history_spec(trials: Trials) -> Spec | None:
    """Points by state and the best so far as a line; none without any score."""
    if not trials.scored:
        return None
    lost = any(row["val_score"] is None and row["state"] == "failed" for row in trials.rows)
    last = max(row["trial"] for row in trials.rows)
    params = [winner_param(trials.study), {"name": "ticks", "value": whole_ticks(last)}]
    return {**_spec(trials.unit, trials.states, lost), "params": params}


def history_text(trials: Trials) -> str:
    """What the search found."""
    counts = Counter(row["state"] for row in trials.rows)
    states = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    text = (
        f"Validation score of each trial in order; {counted(len(trials.rows), 'trial')}: "
        f"{states}. The line is the best so far among the trials with most repeats."
    )
    best = trials.study.best
    if best is None or best.val_score is None:
        return text
    middle = median(row["val_score"] for row in trials.scored)
    return (
        f"{text} Trial {best.trial}, ringed, wins with {trials.unit.score(best.val_score)} over "
        f"{counted(best.repeats, 'repeat')}; the median of all trials is "
        f"{trials.unit.score(middle)}."
    )


@cache
def _spec(unit: Unit, states: tuple[str, ...], lost: bool) -> dict[str, Any]:
    looks = state_scales(states)
    title, scale = unit.title("Validation"), alt.Scale(zero=False)
    base = alt.Chart().encode(
        x=alt.X(
            "trial:Q",
            title="Trial",
            axis=alt.Axis(tickCount=alt.ExprRef("ticks"), grid=False),
            scale=alt.Scale(nice=False, padding=8),
        )
    )
    y = alt.Y("score:Q", title=title, scale=scale)
    tooltip = [
        alt.Tooltip("trial:Q", title="Trial"),
        alt.Tooltip("state:N", title="State"),
        alt.Tooltip("repeats:Q", title="Repeats"),
        alt.Tooltip("score_text:N", title="Mean validation score"),
    ]
    point = base.mark_point(filled=True, size=45, opacity=0.9).encode(tooltip=tooltip, **looks)
    layers = [
        base.transform_filter("isValid(datum.best)")
        .mark_line(style="course", interpolate="step-after")
        .encode(y=alt.Y("top:Q", title=title, scale=scale)),
        point.transform_filter("isValid(datum.score)").encode(y=y),
        base.transform_filter("datum.trial == winner && isValid(datum.score)")
        .mark_point(style="outline", size=130, filled=False)
        .encode(y=y),
    ]
    if lost:  # without a score there is no height: such trials stand on the axis
        layers.append(point.transform_filter(LOST).encode(y=alt.value("height")))
    shown = scaled(unit.factor, score="val_score", top="best")
    chart = alt.layer(*layers, data=ROWS).transform_calculate(**shown)
    return spec_of(chart.transform_calculate(**worded(score=unit.digits)), 240)
