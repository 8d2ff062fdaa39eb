"""What the finals of each method say on each row, beside the paper's number."""

import json
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev

from clar_tune.analysis.contrasts import CHAMPION
from clar_tune.analysis.layout import Place
from clar_tune.analysis.records import Budget, Score
from clar_tune.analysis.runs import StudyView
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.statistics import settled
from clar_tune.paper import printed

WEIGHTS = ("alpha", "beta", "weight", "rate")
"""Parameters that switch a regularizer off when all of them are 0."""
COMPLEMENT = "beta"
"""The weight of the complement: without it clar is nl."""


def scores_of(samples: Mapping[Place, Sample], table: str | None) -> list[Score]:
    """One score per sample; ``table`` numbers the paper's table."""
    values = {place: _value(sample) for place, sample in samples.items()}
    best: dict[tuple[str, str], float] = {}
    for place, value in values.items():
        best[place[:2]] = max(value, best.get(place[:2], value))
    return [
        _score(sample, table, best=values[place] == best[place[:2]])
        for place, sample in samples.items()
    ]


def _value(sample: Sample) -> float:
    """By which methods of a row are put in order: higher is better, equal means are equal."""
    return float(settled(sample.sign * fmean(sample.values.values())))


def _score(sample: Sample, table: str | None, *, best: bool) -> Score:
    (graph, condition, method), study = sample.place, sample.study
    found = sample.estimate(sample.scores)
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
        paper=printed(table, graph, study.method, study.condition, study.protocol),
        best=best,
        budget=total([budget_of(study) for study in sample.studies]),
        penalty_active=_active(sample),
        weightless=all(_weightless(study) for study in sample.studies),
        full=all(study.winner is not None and study.winner.full for study in sample.studies),
        used_up=any(study.used_up for study in sample.studies),
        remote_share=json.loads(study.finals[0]["facts"]).get("remote_share"),
        without_complement=all(_without_complement(study) for study in sample.studies),
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
    weights = _weights(study)
    return bool(weights) and not any(weights.values())


def _without_complement(study: StudyView) -> bool:
    weights = _weights(study)
    clar = study.method.partition("+")[2] == CHAMPION
    return clar and not weights.get(COMPLEMENT, 1) and any(weights.values())


def _weights(study: StudyView) -> dict[str, float]:
    """Those of the winner's regularizer, by name."""
    if study.best is None or "+" not in study.method:
        return {}
    params = json.loads(study.best.params)
    return {name: params[name] for name in WEIGHTS if name in params}
