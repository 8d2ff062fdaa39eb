"""Which parameters mattered in a search."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import altair as alt

from clar_tune.analysis import FEWEST, TRUSTED, counted
from clar_tune.report.blocks import Rows
from clar_tune.report.figures.charts import ROWS, beside, spec_of
from clar_tune.report.figures.names import short
from clar_tune.report.figures.scales import ONE_LINE
from clar_tune.report.figures.theme import BLUE
from clar_tune.report.figures.trials import Trials


def importance_rows(importances: Mapping[str, float]) -> Rows:
    """A row per parameter, the most important first."""
    ordered = sorted(importances.items(), key=lambda item: -item[1])
    return tuple({"parameter": name, "importance": value} for name, value in ordered)


def importance_text(rows: Sequence[Mapping[str, Any]], trials: Trials) -> str:
    """Each parameter's share, and how little that may say."""
    named = ", ".join(f"{short(r['parameter'], 40)} {100 * r['importance']:.0f} %" for r in rows)
    few = ""
    if _judged(trials) < TRUSTED:
        few = f"Too few trials to trust, {TRUSTED} are needed to see even a large effect. "
    return (
        f"{few}Share of each parameter in what sets the best trials apart (PED-ANOVA): "
        f"{named}. {_judged(trials)} trials are judged, each by its first repeat alone, the only "
        "score that all of them have. Shares add up to 100 % even if nothing matters: the largest "
        "of five is about half in pure noise, so only a share far above that of the others tells "
        "something."
    )


def no_importance(trials: Trials) -> str:
    """Why there are no importances."""
    if not trials.parameters:
        return "No importances of parameters: none varied."
    if _judged(trials) < FEWEST:
        return (
            f"No importances of parameters: {counted(_judged(trials), 'trial')} with a score "
            f"would show only noise, {FEWEST} are needed."
        )
    return "No importances of parameters: the trials do not differ in their first repeat."


def _judged(trials: Trials) -> int:
    """Trials with a first repeat."""
    return sum(bool(trials.study.curves.get(row["trial"])) for row in trials.rows)


@cache
def importance_spec() -> dict[str, Any]:
    """Bars with their shares."""
    y = alt.Y(
        "parameter:N",
        sort=None,
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelExpr=ONE_LINE),
    )
    scale = alt.Scale(domainMin=0, range=beside("100"))
    x = alt.X("percent:Q", title="Importance (%)", scale=scale)
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
