"""What each method was given: time and trainings, of the search and of the finals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from clar_tune.analysis import RunView, StudyView, counted
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import ROWS, beside, spec_of
from clar_tune.report.figures.names import short
from clar_tune.report.figures.places import by_place
from clar_tune.report.figures.scales import ONE_LINE, legend
from clar_tune.report.figures.theme import BLUE, ORANGE

CLOCKS = ((7200.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
"""From how many seconds on which unit is used."""


def budget_figure(runs: Sequence[RunView]) -> Figure | None:
    """Two stacked bars per method: search and finals."""
    methods: dict[str, list[StudyView]] = {}
    for (_, _, label), studies in by_place(runs).items():
        methods.setdefault(label, []).extend(studies)
    rows = tuple(row for m, studies in methods.items() for row in _rows(m, studies))
    if not any(row["seconds"] for row in rows):
        return None
    return Figure(
        name="budget",
        kind="budget",
        title="What each method was given",
        text=_text(rows),
        rows=rows,
        spec=_spec(rows),
    )


def _rows(method: str, studies: Sequence[StudyView]) -> Iterator[dict[str, Any]]:
    trials = [trial for study in studies for trial in study.trials]
    finals = [final for study in studies for final in study.finals]
    common = {"method": method, "studies": len(studies), "trials": len(trials)}
    searched = sum(trial.seconds for trial in trials)
    repeats = sum(trial.repeats for trial in trials)
    yield {**common, "part": "search", "trainings": repeats, "seconds": searched}
    confirmed = sum(final.seconds for final in finals)
    yield {**common, "part": "finals", "trainings": len(finals), "seconds": confirmed}


def _clock(rows: Sequence[Mapping[str, Any]]) -> tuple[float, str]:
    totals: dict[str, float] = {}
    for row in rows:
        totals[row["method"]] = totals.get(row["method"], 0.0) + row["seconds"]
    longest = max(totals.values())
    return next((size, name) for start, size, name in CLOCKS if longest >= start)


def _spec(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    size, unit = _clock(rows)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    y = alt.Y(
        "method:N",
        sort=methods,
        title=None,
        axis=alt.Axis(ticks=False, domain=False, labelExpr=ONE_LINE),
    )
    parts = alt.Scale(domain=["search", "finals"], range=[BLUE, ORANGE])
    room = beside(max((_noted(*both) for both in _by_method(rows)), key=len))
    x = alt.X(
        "time:Q",
        title=f"Training time ({unit}); beside it repeats + finals",
        scale=alt.Scale(range=room),
    )
    bars = (
        alt.Chart()
        .mark_bar(height=12)
        .encode(
            x=x,
            y=y,
            color=alt.Color("part:N", scale=parts, legend=legend(["search", "finals"])),
            order=alt.Order("part:N", sort="descending"),
            tooltip=[
                alt.Tooltip("method:N", title="Method"),
                alt.Tooltip("part:N", title="Part"),
                alt.Tooltip("time:Q", title=f"Time ({unit})", format=".3~g"),
                alt.Tooltip("trainings:Q", title="Trainings"),
                alt.Tooltip("trials:Q", title="Trials"),
                alt.Tooltip("studies:Q", title="Studies"),
            ],
        )
    )
    counts = (
        alt.Chart()
        .transform_calculate(
            searched="datum.part == 'search' ? datum.trainings : 0",
            confirmed="datum.part == 'finals' ? datum.trainings : 0",
        )
        .transform_aggregate(
            total="sum(time)", repeats="sum(searched)", finals="sum(confirmed)", groupby=["method"]
        )
        .transform_calculate(noted="datum.repeats + ' + ' + datum.finals")
        .mark_text(style="small", align="left", dx=4)
        .encode(x="total:Q", y=y, text="noted:N")
    )
    chart = alt.layer(bars, counts, data=ROWS)
    return spec_of(chart.transform_calculate(time=f"datum.seconds / {size}"), alt.Step(20))


def _by_method(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], ...]]:
    """The rows of search and finals of each method."""
    return zip(rows[::2], rows[1::2], strict=True)


def _noted(search: Mapping[str, Any], finals: Mapping[str, Any]) -> str:
    """What stands beside a bar."""
    return f"{search['trainings']} + {finals['trainings']}"


def _text(rows: Sequence[Mapping[str, Any]]) -> str:
    size, unit = _clock(rows)
    named = []
    for search, finals in _by_method(rows):
        time = (search["seconds"] + finals["seconds"]) / size
        named.append(
            f"{short(search['method'], 40)} {counted(search['trials'], 'trial')}, "
            f"{counted(search['trainings'], 'repeat')}, "
            f"{counted(finals['trainings'], 'final')}, {time:.3g} {unit}"
        )
    return (
        "Training time of each method over all its studies, search and finals, and how many "
        f"trainings that was. {'; '.join(named)}."
    )
