"""The expected best validation score against the number of trials."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from clar_tune.analysis import RunView, StudyView
from clar_tune.metric import metric_named
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.charts import ROWS, spec_of, whole_ticks
from clar_tune.report.figures.names import file_stem, short
from clar_tune.report.figures.places import by_place
from clar_tune.report.figures.scales import DASHED, line_scales, parts_of
from clar_tune.report.figures.units import Unit, unit_of
from clar_tune.rows import TrialRow
from clar_tune.winner import preference

POINTS = 24
"""At most so many points per line."""


def expected_best(scores: Sequence[float], trials: int) -> float:
    r"""Expected score of the winner among ``trials`` of the scores, drawn without replacement.

    ``scores`` stand in the order of preference, the worst first. Over all subsets of n of N,

    .. math:: E_n = \sum_{i=n}^{N} v_{(i)} \binom{i-1}{n-1} \Big/ \binom{N}{n}

    because :math:`v_{(i)}` wins in those subsets whose other members stand before it. With
    sorted scores it is the expected maximum of Dodge et al. (2019), without their
    replacement, which would count one trial several times.
    """
    # The last score wins in n / N of the subsets, each one before it in (i - n) / (i - 1) as many.
    share, expected = trials / len(scores), 0.0
    for place in range(len(scores), trials - 1, -1):
        expected += share * scores[place - 1]
        share *= (place - trials) / max(1, place - 1)
    return expected


def preferred_last(trials: Iterable[TrialRow], metric: str) -> list[float]:
    """Scores of ended trials in the order in which a study prefers them.

    More repeats come before a better score, as for a winner: a lucky first repeat is no result.
    A failed trial without a score counts as the worst that was seen.
    """
    ended = [trial for trial in trials if trial.state in ("complete", "pruned", "failed")]
    ranked = sorted(ended, key=lambda trial: preference(trial, metric))
    scores = [trial.val_score for trial in ranked if trial.val_score is not None]
    if not scores:
        return []
    worst = min(scores, key=metric_named(metric).rank)
    return [worst] * (len(ended) - len(scores)) + scores


def expected_figures(runs: Sequence[RunView]) -> Iterator[Figure]:
    """One figure per graph with a search."""
    for graph, lines in _by_graph(runs).items():
        rows = tuple(row for label, own in lines.items() for row in _rows(graph, label, own))
        if rows:
            unit = unit_of(study.metric for own in lines.values() for s in own for study in s)
            place = short(graph)
            yield Figure(
                name=file_stem("expected", graph),
                kind="expected",
                title=f"Expected best validation score on {place}",
                text=_text(rows, place, unit),
                rows=rows,
                spec=_spec(rows, unit),
            )


def _by_graph(runs: Sequence[RunView]) -> dict[str, dict[str, list[list[StudyView]]]]:
    """By graph and column, the studies of each condition."""
    graphs: dict[str, dict[str, list[list[StudyView]]]] = {}
    for (graph, _, label), studies in by_place(runs).items():
        graphs.setdefault(graph, {}).setdefault(label, []).append(studies)
    return graphs


def _rows(
    graph: str, label: str, conditions: Sequence[Sequence[StudyView]]
) -> Iterator[dict[str, Any]]:
    """The mean over conditions; a line is as long as the shortest of theirs.

    Searches of one condition are taken together.
    """
    found = []
    for studies in conditions:
        trials = [trial for study in studies for trial in study.trials]
        scores = preferred_last(trials, studies[0].metric)
        most = min(len(scores), max(len(study.trials) for study in studies))
        if most:
            found.append((scores, most))
    for count in _counts(min((most for _, most in found), default=0)):
        yield {
            "graph": graph,
            "conditions": len(found),
            "method": label,
            **parts_of(label),
            "trials": count,
            "expected": fmean(expected_best(scores, count) for scores, _ in found),
        }


def _counts(most: int) -> list[int]:
    """Every number up to ``most``, or about ``POINTS`` of them with growing steps."""
    if most <= POINTS:
        return list(range(1, most + 1))
    steps = (round(most ** (place / (POINTS - 1))) for place in range(POINTS))
    return sorted(set(steps))


def _spec(rows: Sequence[Mapping[str, Any]], unit: Unit) -> dict[str, Any]:
    looks, field = line_scales(list(dict.fromkeys(row["method"] for row in rows)))
    picked = looks["color"].shorthand.removesuffix(":N")
    pick = alt.selection_point(name="pick", fields=[picked], bind="legend")
    trials = alt.Scale(domainMin=1, nice=False)
    ticks = whole_ticks(max(row["trials"] for row in rows) - 1)
    title = unit.title("Expected best validation")
    base = alt.Chart().encode(
        x=alt.X("trials:Q", title="Trials", axis=alt.Axis(tickCount=ticks), scale=trials),
        y=alt.Y("score:Q", title=title, scale=alt.Scale(zero=False)),
        color=looks["color"],
        opacity=alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.15)),
    )
    line = base.mark_line(strokeWidth=1.6)
    point = base.mark_point(filled=True, size=28)
    chart = alt.layer(
        line.encode(strokeDash=looks["strokeDash"], detail="method:N"),
        point.encode(shape=looks["shape"], tooltip=_tooltip(unit))
        .add_params(pick)
        .properties(name="points"),
        data=ROWS,
    )
    score = f"{unit.factor} * datum.expected"
    dashes = f"'{DASHED}' + datum.{field}"
    return spec_of(chart.transform_calculate(score=score, dashes=dashes), 300)


def _tooltip(unit: Unit) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("method:N", title="Method"),
        alt.Tooltip("trials:Q", title="Trials"),
        alt.Tooltip("score:Q", title="Expected best", format=unit.digits),
    ]


def _text(rows: Sequence[Mapping[str, Any]], place: str, unit: Unit) -> str:
    last = {row["method"]: row for row in rows}
    first = {row["method"]: row for row in reversed(rows)}
    sign = -1 if unit.lower_is_better else 1
    order = sorted(last, key=lambda method: -sign * last[method]["expected"])
    named = "; ".join(
        f"{short(method, 40)} {unit.score(first[method]['expected'])} with one trial"
        + (
            f", {unit.score(last[method]['expected'])} with {last[method]['trials']}"
            if last[method]["trials"] > 1
            else ""
        )
        for method in order[:4]
    )
    more = f"; {len(order) - 4} more methods" if len(order) > 4 else ""
    several = any(row["conditions"] > 1 for row in rows)
    mean = " Each line is the mean over the conditions of its method." if several else ""
    return (
        f"Validation score on {place} of the winner that a search of so many trials is expected "
        f"to find: the mean over all subsets of the trials that were made. More repeats are "
        f"preferred to a higher score, so a line may fall; one that still rises would gain from "
        f"more trials.{mean} {named}{more}."
    )
