"""What the finals of each method say on each row, beside the paper's number."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from clar_tune.analysis.layout import Place, to_cell
from clar_tune.analysis.records import CHAMPION, Budget, Contrast, Score, Standing
from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.analysis.statistics import (
    Estimate,
    average_ranks,
    estimate,
    estimate_of_means,
    settled,
)
from clar_tune.graphs import PROTOCOLS
from clar_tune.metric import metric_named
from clar_tune.paper import printed
from clar_tune.records import Value
from clar_tune.rows import FinalRow

Unit = tuple[int, ...]
"""What pairs finals of different methods: the split, on fixed splits with the seed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The studies of one place, and what their finals scored."""

    place: Place
    studies: tuple[StudyView, ...]
    runs: tuple[RunView, ...]
    """Where the studies come from."""
    finals: Mapping[int, Mapping[Unit, float]]
    """Scores by search, then by split."""
    over_searches: bool
    """Whether searches were repeated: then each is one unit, else each split is."""
    test_share: float
    """Test nodes per training node where splits are drawn again and again, else 0."""

    @property
    def values(self) -> dict[Unit, float]:
        """The score of each unit: a split, or a search averaged over its splits."""
        if self.over_searches:
            return {(search,): fmean(own.values()) for search, own in self.finals.items()}
        return {unit: score for own in self.finals.values() for unit, score in own.items()}

    @property
    def study(self) -> StudyView:
        """The first of its studies: all have the same method, condition and protocol."""
        return self.studies[0]

    @property
    def is_error(self) -> bool:
        """Whether a lower value is better."""
        return not metric_named(self.study.metric).higher_is_better

    @property
    def sign(self) -> float:
        """1 where a higher value is better, else -1."""
        return -1.0 if self.is_error else 1.0

    @property
    def allows_verdict(self) -> bool:
        """Whether its protocol allows a verdict."""
        return PROTOCOLS[self.study.protocol].verdict

    @property
    def scores(self) -> list[list[float]]:
        """Scores of each search."""
        return [list(own.values()) for own in self.finals.values()]

    def estimate(self, searches: Sequence[Sequence[float]], tests: int = 1) -> Estimate:
        """The mean of scores or gains of each search, with an interval over the units."""
        if self.over_searches:
            return estimate_of_means(searches, self.test_share, tests=tests)
        return estimate([v for own in searches for v in own], self.test_share, tests=tests)


def samples_of(runs: Iterable[RunView], columns: Collection[str] = ()) -> dict[Place, Sample]:
    """A sample for every place of the table with finals, in the order of the studies."""
    found: dict[Place, list[tuple[RunView, StudyView]]] = {}
    for run in runs:
        for study in run.studies:
            if study.finals:
                place = to_cell((study.graph, study.condition, study.method), columns)
                found.setdefault(place, []).append((run, study))
    return {place: _sample(place, own) for place, own in found.items()}


def _sample(place: Place, found: Sequence[tuple[RunView, StudyView]]) -> Sample:
    runs = {run.name: run for run, _ in found}
    studies = tuple(study for _, study in found)
    protocol = PROTOCOLS[studies[0].protocol]
    share = 0.0
    if protocol.verdict and not protocol.fixed:
        finals = [final for study in studies for final in study.finals]
        share = fmean(final.test_nodes / final.train_nodes for final in finals)
    return Sample(
        place=place,
        studies=studies,
        runs=tuple(runs.values()),
        finals={study.search: _by_unit(study, fixed=bool(protocol.fixed)) for study in studies},
        over_searches=any(run.budget["searches"] > 1 for run in runs.values()),
        test_share=share,
    )


def _by_unit(study: StudyView, *, fixed: bool) -> dict[Unit, float]:
    scores: dict[Unit, list[float]] = {}
    for final in study.finals:
        scores.setdefault(_unit(final, fixed=fixed), []).append(final.test_score)
    return {unit: fmean(found) for unit, found in scores.items()}


def _unit(final: FinalRow, *, fixed: bool) -> Unit:
    return (final.split_seed, final.init_seed) if fixed else (final.split_seed,)


WEIGHTS = ("alpha", "beta", "weight", "rate")
"""Parameters that switch a regularizer off when all of them are 0."""
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
        penalty_active=_active(sample),
        weightless=all(_weightless(study) for study in sample.studies),
        full=all(study.winner is not None and study.winner.full for study in sample.studies),
        used_up=any(study.used_up for study in sample.studies),
        remote_share=study.finals[0].facts.get("remote_share"),
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
    found = [f.penalty_active for f in finals if f.penalty_active is not None]
    return fmean(found) if found else None


def _weightless(study: StudyView) -> bool:
    weights = _weights(study)
    return bool(weights) and not any(weights.values())


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
    methods: Sequence[str], scores: Sequence[Score], contrasts: Sequence[Contrast], sign: float
) -> list[Standing]:
    """One standing per method, in their order."""
    ranks = _ranks(methods, scores, sign)
    return [
        _standing(
            method,
            [score for score in scores if score.method == method],
            [c for c in contrasts if c.method == method and not c.rival],
            ranks.get(method),
        )
        for method in methods
    ]


def _standing(
    method: str, scores: Sequence[Score], contrasts: Sequence[Contrast], rank: float | None
) -> Standing:
    signs = [_sign(contrast) for contrast in contrasts]
    return Standing(
        method=method,
        rows=len(scores),
        bests=sum(score.best for score in scores),
        wins=signs.count(1),
        ties=signs.count(0),
        losses=signs.count(-1),
        better=sum(contrast.verdict == "better" for contrast in contrasts),
        worse=sum(contrast.verdict == "worse" for contrast in contrasts),
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
