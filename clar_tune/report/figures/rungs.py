"""Trials of a study from rung to rung."""

from collections import Counter
from functools import cache
from typing import Any

import altair as alt

from clar_tune.report.blocks import Spec
from clar_tune.report.figures.charts import ROWS, spec_of
from clar_tune.report.figures.scales import state_scales
from clar_tune.report.figures.trials import Trials
from clar_tune.report.figures.units import Unit


def rungs_spec(trials: Trials) -> Spec | None:
    """A line per trial through its mean scores; none if there is only one rung."""
    if len(trials.rungs) < 2 or not trials.scored:
        return None
    return _spec(trials.unit, trials.states, trials.rungs)


def rungs_text(trials: Trials) -> str:
    """How many trials reached which rung."""
    reached = ", ".join(
        f"{sum(row[f'mean_{rung}'] is not None for row in trials.rows)} reached {rung}"
        for rung in trials.rungs
    )
    stopped = Counter(row["repeats"] for row in trials.rows if row["state"] == "pruned")
    ended = ", ".join(f"{stopped[rung]} after {rung}" for rung in sorted(stopped))
    return (
        "Mean validation score so far of each trial at the numbers of repeats where trials are "
        f"judged; a line that ends early was stopped there. Of {len(trials.rows)} trials {reached}"
        f" repeats. {f'Stopped: {ended}.' if ended else 'None was stopped.'}"
    )


@cache
def _spec(unit: Unit, states: tuple[str, ...], rungs: tuple[int, ...]) -> dict[str, Any]:
    looks = state_scales(states)
    hover = alt.selection_point(
        name="hover", fields=["trial"], on="pointerover", clear="pointerout", empty=False
    )
    strong = alt.when(hover).then(alt.value(1)).otherwise(alt.value(0.45))
    thick = alt.when(hover).then(alt.value(3)).otherwise(alt.value(1.2))
    base = alt.Chart().encode(
        x=alt.X("rung:O", title="Repeats", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "score:Q", title=unit.title("Mean validation"), scale=alt.Scale(zero=False, padding=6)
        ),
        color=looks["color"],
    )
    tooltip = [
        alt.Tooltip("trial:Q", title="Trial"),
        alt.Tooltip("state:N", title="State"),
        alt.Tooltip("rung:Q", title="Repeats"),
        alt.Tooltip("score:Q", title="Mean so far", format=unit.digits),
    ]
    chart = alt.layer(
        base.mark_line().encode(detail="trial:N", strokeOpacity=strong, strokeWidth=thick),
        base.mark_point(filled=True, size=36)
        .encode(shape=looks["shape"], tooltip=tooltip)
        .add_params(hover)
        .properties(name="points"),
        data=ROWS,
    )
    columns: list[str | alt.FieldName] = [f"mean_{rung}" for rung in rungs]
    return spec_of(
        chart.transform_fold(columns, as_=["column", "mean"])
        .transform_filter("isValid(datum.mean)")
        .transform_calculate(rung="+slice(datum.column, 5)", score=f"{unit.factor} * datum.mean"),
        240,
    )
