"""Finals of one method on one row, averaged within splits and within repeated searches."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from clar_tune.analysis.layout import Place, arranged
from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.analysis.statistics import Estimate, estimate, estimate_of_means
from clar_tune.graphs.splits import PROTOCOLS
from clar_tune.records import LOWER_IS_BETTER

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
        return self.study.metric in LOWER_IS_BETTER

    @property
    def sign(self) -> float:
        """1 where a higher value is better, else -1."""
        return -1.0 if self.is_error else 1.0

    @property
    def decides(self) -> bool:
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
                place = arranged((study.graph, study.condition, study.method), columns)
                found.setdefault(place, []).append((run, study))
    return {place: _sample(place, own) for place, own in found.items()}


def _sample(place: Place, found: Sequence[tuple[RunView, StudyView]]) -> Sample:
    runs = {run.name: run for run, _ in found}
    studies = tuple(study for _, study in found)
    protocol = PROTOCOLS[studies[0].protocol]
    share = 0.0
    if protocol.verdict and not protocol.fixed:
        finals = [final for study in studies for final in study.finals]
        share = fmean(final["test_nodes"] / final["train_nodes"] for final in finals)
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
        scores.setdefault(_unit(final, fixed=fixed), []).append(final["test_score"])
    return {unit: fmean(found) for unit, found in scores.items()}


def _unit(final: Mapping[str, Any], *, fixed: bool) -> Unit:
    split = final["split_seed"]
    return (split, final["init_seed"]) if fixed else (split,)
