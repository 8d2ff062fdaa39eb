"""The expected best validation score against the number of trials."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from clar_tune.figures.charts import ROWS, spec_of
from clar_tune.figures.records import Figure, file_stem, place_name, short
from clar_tune.figures.scales import DASHED, backbone_dashes, method_scales
from clar_tune.figures.units import Unit, unit_of
from clar_tune.overview import RunView, StudyView
from clar_tune.rows import TrialRow
from clar_tune.winners import LOWER_IS_BETTER

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
    sign = -1.0 if metric in LOWER_IS_BETTER else 1.0
    ranked = sorted(
        (trial.state != "failed", trial.repeats, sign * trial.val_score)
        for trial in ended
        if trial.val_score is not None
    )
    if not ranked:
        return []
    worst = min(score for _, _, score in ranked)
    lost = [worst] * (len(ended) - len(ranked))
    return [sign * score for score in (*lost, *(score for _, _, score in ranked))]


def expected_figures(runs: Sequence[RunView]) -> Iterator[Figure]:
    """One figure per graph and condition with a search."""
    for (graph, condition), studies in _by_place(runs).items():
        unit = unit_of(study.metric for own in studies.values() for study in own)
        rows = tuple(row for m, own in studies.items() for row in _rows(graph, condition, m, own))
        if rows:
            place = place_name(graph, condition)
            yield Figure(
                name=file_stem("expected", graph, condition),
                kind="expected",
                title=f"Expected best validation score on {place}",
                text=_text(rows, place, unit),
                rows=rows,
                spec=_spec(rows, unit),
            )


def _by_place(
    runs: Sequence[RunView],
) -> dict[tuple[str, str], dict[str, list[StudyView]]]:
    places: dict[tuple[str, str], dict[str, list[StudyView]]] = {}
    for run in runs:
        for study in run.studies:
            methods = places.setdefault((study.graph, study.condition), {})
            methods.setdefault(study.method, []).append(study)
    return places


def _rows(
    graph: str, condition: str, method: str, studies: Sequence[StudyView]
) -> Iterator[dict[str, Any]]:
    """Searches of one method are taken together; a line is as long as the longest of them."""
    trials = [trial for study in studies for trial in study.trials]
    scores = preferred_last(trials, studies[0].metric)
    backbone, _, regularizer = method.partition("+")
    most = min(len(scores), max(len(study.trials) for study in studies))
    for count in _counts(most):
        yield {
            "graph": graph,
            "condition": condition,
            "method": method,
            "backbone": backbone,
            "regularizer": regularizer or "none",
            "trials": count,
            "expected": expected_best(scores, count),
        }


def _counts(most: int) -> list[int]:
    """Every number up to ``most``, or about ``POINTS`` of them with growing steps."""
    if most <= POINTS:
        return list(range(1, most + 1))
    steps = (round(most ** (place / (POINTS - 1))) for place in range(POINTS))
    return sorted(set(steps))


def _spec(rows: Sequence[Mapping[str, Any]], unit: Unit) -> dict[str, Any]:
    methods = list(dict.fromkeys(row["method"] for row in rows))
    looks = method_scales(methods)
    pick = alt.selection_point(name="pick", fields=["regularizer"], bind="legend")
    trials = alt.Scale(domainMin=1, nice=False)
    title = unit.title("Expected best validation")
    base = alt.Chart().encode(
        x=alt.X("trials:Q", title="Trials", axis=alt.Axis(tickMinStep=1), scale=trials),
        y=alt.Y("score:Q", title=title, scale=alt.Scale(zero=False)),
        color=looks["color"],
        opacity=alt.when(pick).then(alt.value(1)).otherwise(alt.value(0.15)),
    )
    line = base.mark_line(strokeWidth=1.6)
    point = base.mark_point(filled=True, size=28)
    chart = alt.layer(
        line.encode(strokeDash=backbone_dashes(methods), detail="method:N"),
        point.encode(shape=looks["shape"], tooltip=_tooltip(unit))
        .add_params(pick)
        .properties(name="points"),
        data=ROWS,
    )
    score = f"{unit.factor} * datum.expected"
    dashes = f"'{DASHED}' + datum.backbone"
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
        f"{short(method, 40)} {unit.score(first[method]['expected'])} with one trial, "
        f"{unit.score(last[method]['expected'])} with {last[method]['trials']}"
        for method in order[:4]
    )
    more = f"; {len(order) - 4} more methods" if len(order) > 4 else ""
    return (
        f"Validation score on {place} of the winner that a search of so many trials is expected "
        f"to find: the mean over all subsets of the trials that were made. More repeats are "
        f"preferred to a higher score, so a line may fall; one that still rises would gain from "
        f"more trials. {named}{more}."
    )
