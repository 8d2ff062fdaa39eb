"""What the finals of each method say on each row, beside the paper's number."""

import json
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev

from clar_tune.comparison.records import Budget, Score
from clar_tune.comparison.samples import Place, Sample
from clar_tune.overview import StudyView
from clar_tune.paper import printed
from clar_tune.statistics import estimate

WEIGHTS = ("alpha", "beta", "weight", "rate")
"""Parameters that switch a regularizer off when all of them are 0."""


def scores_of(samples: Mapping[Place, Sample], table: str | None) -> list[Score]:
    """One score per sample; ``table`` numbers the paper's table."""
    best: dict[tuple[str, str], float] = {}
    for (graph, condition, _), sample in samples.items():
        value = sample.sign * fmean(sample.values.values())
        best[graph, condition] = max(value, best.get((graph, condition), value))
    return [_score(sample, best[place[:2]], table) for place, sample in samples.items()]


def _score(sample: Sample, best: float, table: str | None) -> Score:
    graph, condition, method = sample.place
    found = estimate(list(sample.values.values()), sample.test_share)
    means = [fmean(final["test_score"] for final in study.finals) for study in sample.studies]
    return Score(
        graph=graph,
        method=method,
        condition=condition,
        mean=found.mean,
        half=found.half,
        units=found.units,
        searches=len(sample.studies),
        search_spread=stdev(means) if len(means) > 1 else None,
        paper=printed(table, graph, method, condition, sample.studies[0].protocol),
        best=sample.sign * fmean(sample.values.values()) >= best,
        budget=total([budget_of(study) for study in sample.studies]),
        penalty_active=_active(sample),
        weightless=all(_weightless(study) for study in sample.studies),
        full=all(study.winner is not None and study.winner.full for study in sample.studies),
        used_up=any(study.used_up for study in sample.studies),
    )


def budget_of(study: StudyView) -> Budget:
    """What one study was given and what it took."""
    return Budget(
        asked=study.asked,
        trials=len(study.trials),
        failed=study.count("failed"),
        repeats=study.repeats,
        finals=len(study.finals),
        seconds=study.seconds,
    )


def total(budgets: Iterable[Budget]) -> Budget:
    """Several budgets as one."""
    given = list(budgets)
    return Budget(
        asked=sum(budget.asked for budget in given),
        trials=sum(budget.trials for budget in given),
        failed=sum(budget.failed for budget in given),
        repeats=sum(budget.repeats for budget in given),
        finals=sum(budget.finals for budget in given),
        seconds=sum(budget.seconds for budget in given),
    )


def _active(sample: Sample) -> float | None:
    finals = (final for study in sample.studies for final in study.finals)
    found = [f["penalty_active"] for f in finals if f["penalty_active"] is not None]
    return fmean(found) if found else None


def _weightless(study: StudyView) -> bool:
    if study.best is None or "+" not in study.method:
        return False
    params = json.loads(study.best.params)
    weights = [params[name] for name in WEIGHTS if name in params]
    return bool(weights) and not any(weights)
