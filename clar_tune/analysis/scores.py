"""What the finals of each method say on each row, beside the paper's number."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev

import numpy as np

from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.effects import above_floor, collapses
from clar_tune.analysis.layout import Place
from clar_tune.analysis.records import CHAMPION, Budget, Contrast, Score, Standing
from clar_tune.analysis.runs import StudyView
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.statistics import average_ranks, settled
from clar_tune.analysis.units import by_unit
from clar_tune.paper import printed
from clar_tune.records import Value
from clar_tune.rows import FinalRow
from clar_tune.switches import is_off

WEIGHTS = ("alpha", "beta", "weight", "rate")
"""Parameters that say how strong a regularizer is."""
COMPLEMENT = "beta"
"""The weight of the complement: without it clar is nl."""


def scores_of(samples: Mapping[Place, Sample], table: str | None) -> list[Score]:
    """One score per sample; ``table`` numbers the paper's table.

    Where a row has one method alone, none is the best.
    """
    values = {place: _value(sample) for place, sample in samples.items()}
    best: dict[tuple[str, str], float] = {}
    for place, value in values.items():
        best[place[:2]] = max(value, best.get(place[:2], value))
    methods = Counter(place[:2] for place in samples)
    return [
        _score(sample, table, best=methods[place[:2]] > 1 and values[place] == best[place[:2]])
        for place, sample in samples.items()
    ]


def _value(sample: Sample) -> float:
    """By which methods of a row are put in order: higher is better, equal means are equal."""
    return float(settled(sample.sign * fmean(sample.values.values())))


def _score(sample: Sample, table: str | None, *, best: bool) -> Score:
    (graph, condition, method), study = sample.place, sample.study
    found = sample.estimate(sample.scores)
    means = [fmean(final.test_score for final in study.finals) for study in sample.studies]
    ground, finals = sample.ground, [study.finals for study in sample.studies]
    balanced = ground.effect([by_unit(own, ground.protocol, _balanced) for own in finals])
    return Score(
        graph=graph,
        method=method,
        condition=condition,
        mean=found.mean,
        half_width=found.half_width,
        units=found.units,
        searches=len(sample.studies),
        search_spread=stdev(means) if len(means) > 1 else None,
        paper=printed(table, graph, study.method, study.condition, study.protocol),
        best=best,
        budget=total([budget_of(study) for study in sample.studies]),
        penalty_active=_mean(sample, "penalty_active"),
        weightless=all(_weightless(study) for study in sample.studies),
        full=all(study.winner is not None and study.winner.full for study in sample.studies),
        used_up=any(study.used_up for study in sample.studies),
        remote_share=study.finals[0].facts.get("remote_share"),
        without_complement=all(_without_complement(study) for study in sample.studies),
        balanced=None if balanced is None else balanced.mean,
        balanced_half=None if balanced is None else balanced.half_width(),
        above_floor=above_floor(finals, ground),
        collapsed=sum(map(collapses, finals)),
        penalty_above=_mean(sample, "penalty_above"),
        penalty_zero=_mean(sample, "penalty_zero"),
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


def _balanced(final: FinalRow) -> float | None:
    return final.test_balanced


def _mean(sample: Sample, column: str) -> float | None:
    """Over all finals that have it."""
    finals = (getattr(f, column) for study in sample.studies for f in study.finals)
    found = [value for value in finals if value is not None]
    return fmean(found) if found else None


def _weightless(study: StudyView) -> bool:
    regularizer = study.method.partition("+")[2]
    return bool(regularizer) and study.best is not None and is_off(regularizer, study.best.params)


def _without_complement(study: StudyView) -> bool:
    weights = _weights(study)
    clar = study.method.partition("+")[2] == CHAMPION
    return clar and not weights.get(COMPLEMENT, 1) and any(weights.values())


def _weights(study: StudyView) -> dict[str, Value]:
    """Those of the winner's regularizer, by name."""
    if study.best is None or "+" not in study.method:
        return {}
    params = study.best.params
    return {name: params[name] for name in WEIGHTS if name in params}


TIE = 0.00005
"""Gains smaller than this print as 0.00 points, or as a ratio of 1.0000 for errors."""


def standings_of(
    methods: Sequence[str],
    scores: Sequence[Score],
    contrasts: Sequence[Contrast],
    effects: Sequence[PenaltyEffect],
    sign: float,
) -> list[Standing]:
    """One standing per method, in their order."""
    ranks = _ranks(methods, scores, sign)
    return [
        _standing(
            method,
            [score for score in scores if score.method == method],
            [c for c in contrasts if c.method == method and not c.rival],
            [effect.verdict for effect in effects if effect.method == method],
            ranks.get(method),
        )
        for method in methods
    ]


def _standing(
    method: str,
    scores: Sequence[Score],
    contrasts: Sequence[Contrast],
    verdicts: Sequence[str],
    rank: float | None,
) -> Standing:
    signs = [_sign(contrast) for contrast in contrasts]
    return Standing(
        method=method,
        rows=len(scores),
        bests=sum(score.best for score in scores),
        wins=signs.count(1),
        ties=signs.count(0),
        losses=signs.count(-1),
        better=verdicts.count("better"),
        worse=verdicts.count("worse"),
        rank=rank,
        budget=total(score.budget for score in scores),
    )


def _sign(contrast: Contrast) -> int:
    """1 for a gain, -1 for a loss, 0 for what prints as neither."""
    gain = contrast.gain if contrast.ratio is None else 1 - contrast.ratio
    return 0 if abs(gain) < TIE else (1 if gain > 0 else -1)


def _ranks(methods: Sequence[str], scores: Sequence[Score], sign: float) -> dict[str, float]:
    """Average ranks over the rows that every method has."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        rows.setdefault((score.graph, score.condition), {})[score.method] = sign * score.mean
    whole = [row for row in rows.values() if len(row) == len(methods)]
    if not whole or len(methods) < 2:
        return {}
    table = np.array([[row[method] for method in methods] for row in whole])
    return dict(zip(methods, average_ranks(table).tolist(), strict=True))
