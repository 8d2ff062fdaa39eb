"""The score over alpha and beta."""

from collections.abc import Mapping
from functools import cache
from statistics import fmean
from typing import Any, Literal

import altair as alt

from clar_tune.report.blocks import Spec
from clar_tune.report.figures.charts import ROWS, spec_of
from clar_tune.report.figures.trials import Trials
from clar_tune.report.figures.units import Unit
from clar_tune.space import Choice, Range

WEIGHTS = ("alpha", "beta")
CELL = 26
ScaleType = Literal["log", "linear", "symlog"]
SCORED = "isValid(datum.val_score) && isValid(datum.alpha) && isValid(datum.beta)"


def weights_spec(trials: Trials) -> Spec | None:
    """A map of the mean score at each pair of weights; none unless both vary."""
    cells = _cells(trials)
    alphas, betas = ({cell[place] for cell in cells} for place in (0, 1))
    if len(alphas) < 2 or len(betas) < 2:
        return None
    domains = [trials.domains.get(name) for name in WEIGHTS]
    if any(isinstance(domain, Range) for domain in domains):
        return _points(trials.unit, *map(_scale, domains))
    return _places(trials.unit, len(betas))


def _scale(domain: Range | Choice | None) -> ScaleType:
    """The scale of an axis: choices may hold 0 beside 0.01."""
    if isinstance(domain, Range):
        return "log" if domain.log else "linear"
    return "symlog"


def weights_text(trials: Trials) -> str:
    """Where scores are highest, and what each weight alone reaches."""
    cells, unit = _cells(trials), trials.unit
    (alpha, beta), score = _best(cells, unit)
    parts = [
        "Mean validation score of the trials at each pair of weights, alpha on the original graph "
        f"and beta on its complement. {len(cells)} pairs were tried; the best is alpha = "
        f"{alpha:g}, beta = {beta:g} with {unit.score(score)}."
    ]
    for place, name in enumerate(WEIGHTS):
        without = {pair: mean for pair, mean in cells.items() if pair[place] == 0}
        if without:
            parts.append(f"Best with {name} = 0: {unit.score(_best(without, unit)[1])}.")
    return " ".join(parts)


def _cells(trials: Trials) -> dict[tuple[float, float], float]:
    """The mean score at each pair of weights that are numbers."""
    found: dict[tuple[float, float], list[float]] = {}
    columns = [trials.parameters.get(name, "") for name in WEIGHTS]
    for row in trials.scored:
        alpha, beta = (row.get(column) for column in columns)
        if isinstance(alpha, int | float) and isinstance(beta, int | float):
            found.setdefault((alpha, beta), []).append(row["val_score"])
    return {pair: fmean(scores) for pair, scores in found.items()}


def _best(
    cells: Mapping[tuple[float, float], float], unit: Unit
) -> tuple[tuple[float, float], float]:
    sign = -1 if unit.lower_is_better else 1
    return max(cells.items(), key=lambda item: sign * item[1])


@cache
def _places(unit: Unit, lines: int) -> dict[str, Any]:
    """A heat map; weights stand in order at equal distances, 0 among them."""
    x = alt.X("alpha:O", title="alpha (original graph)", axis=alt.Axis(labelAngle=0))
    y = alt.Y("beta:O", title="beta (complement)", sort="descending")
    tooltip = [
        alt.Tooltip("alpha:O"),
        alt.Tooltip("beta:O"),
        alt.Tooltip("score:Q", title="Mean", format=unit.digits),
        alt.Tooltip("lowest:Q", title="Lowest", format=unit.digits),
        alt.Tooltip("highest:Q", title="Highest", format=unit.digits),
        alt.Tooltip("trials:Q", title="Trials"),
    ]
    digits = ".1f" if unit.percent else ".2~g"
    dark = "luminance(scale('color', datum.score)) < 0.18"
    ink = alt.when(dark).then(alt.value("#ffffff")).otherwise(alt.value("#000000"))
    chart = (
        alt.layer(
            alt.Chart().mark_rect().encode(x=x, y=y, color=_colour(unit), tooltip=tooltip),
            alt.Chart()
            .mark_text(fontSize=10)
            .encode(x=x, y=y, color=ink, text=alt.Text("score:Q", format=digits)),
            data=ROWS,
        )
        .transform_filter(SCORED)
        .transform_calculate(shown=f"{unit.factor} * datum.val_score")
        .transform_aggregate(
            score="mean(shown)",
            lowest="min(shown)",
            highest="max(shown)",
            trials="count()",
            groupby=list(WEIGHTS),
        )
    )
    return spec_of(chart, CELL * lines)


@cache
def _points(unit: Unit, of_alpha: ScaleType, of_beta: ScaleType) -> dict[str, Any]:
    """A point per trial, where weights are drawn from ranges; scales are by name."""
    x = alt.X("alpha:Q", title="alpha (original graph)", scale=alt.Scale(type=of_alpha))
    y = alt.Y("beta:Q", title="beta (complement)", scale=alt.Scale(type=of_beta))
    tooltip = [
        alt.Tooltip("trial:Q", title="Trial"),
        alt.Tooltip("alpha:Q", format=".3~g"),
        alt.Tooltip("beta:Q", format=".3~g"),
        alt.Tooltip("score:Q", title="Mean validation score", format=unit.digits),
        alt.Tooltip("repeats:Q", title="Repeats"),
    ]
    points = alt.Chart().mark_point(filled=True, size=90, opacity=1)
    chart = (
        alt.layer(points.encode(x=x, y=y, color=_colour(unit), tooltip=tooltip), data=ROWS)
        .transform_filter(SCORED)
        .transform_calculate(score=f"{unit.factor} * datum.val_score")
    )
    return spec_of(chart, 280)


def _colour(unit: Unit) -> alt.Color:
    title = unit.title("Validation")
    legend = alt.Legend(title=title, gradientLength=160, gradientThickness=10, titleLimit=240)
    scale = alt.Scale(zero=False, reverse=unit.lower_is_better)
    return alt.Color("score:Q", scale=scale, legend=legend)
