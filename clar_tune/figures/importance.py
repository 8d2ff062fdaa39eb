"""Which parameters mattered in a search."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import altair as alt

from clar_tune.figures.charts import ROWS, spec_of
from clar_tune.figures.records import Rows, short
from clar_tune.figures.scales import ONE_LINE
from clar_tune.figures.theme import BLUE
from clar_tune.figures.trials import Trials

FEW = 4
"""With fewer complete trials importances say nothing."""


def importance_rows(importances: Mapping[str, float]) -> Rows:
    """A row per parameter, the most important first."""
    ordered = sorted(importances.items(), key=lambda item: -item[1])
    return tuple({"parameter": name, "importance": value} for name, value in ordered)


def importance_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Each parameter's share."""
    named = ", ".join(f"{short(r['parameter'], 40)} {100 * r['importance']:.0f} %" for r in rows)
    return f"Share of each parameter in what makes the best trials of this search differ: {named}."


def no_importance(trials: Trials) -> str:
    """Why there are no importances."""
    complete = sum(row["state"] == "complete" for row in trials.rows)
    if not trials.parameters:
        return "No importances: no parameter varied."
    if complete < FEW:
        return f"No importances: {complete} complete trials are too few."
    return "No importances: they could not be told apart from these trials."


@cache
def importance_spec() -> dict[str, Any]:
    """Bars with their shares."""
    y = alt.Y(
        "parameter:N",
        sort=None,
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelExpr=ONE_LINE),
    )
    x = alt.X("percent:Q", title="Importance (%)", scale=alt.Scale(domainMin=0))
    tooltip = [
        alt.Tooltip("parameter:N", title="Parameter"),
        alt.Tooltip("percent:Q", title="Importance (%)", format=".1f"),
    ]
    bar = alt.Chart().mark_bar(height=12, color=BLUE).encode(x=x, y=y, tooltip=tooltip)
    share = alt.Chart().mark_text(style="small", align="left", dx=4)
    chart = alt.layer(
        bar, share.encode(x=x, y=y, text=alt.Text("percent:Q", format=".0f")), data=ROWS
    )
    return spec_of(chart.transform_calculate(percent="100 * datum.importance"), alt.Step(20))
