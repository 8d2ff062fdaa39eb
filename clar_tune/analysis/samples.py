"""The finals of each place of a table, search by search and unit by unit."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from clar_tune.analysis.layout import Place, to_cell
from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.analysis.statistics import Estimate, estimate, estimate_of_means
from clar_tune.analysis.units import ByUnit, Ground, Unit, by_unit
from clar_tune.graphs import PROTOCOLS
from clar_tune.metric import metric_named


@dataclass(frozen=True, slots=True)
class Sample:
    """The studies of one place, and what their finals scored."""

    place: Place
    studies: tuple[StudyView, ...]
    runs: tuple[RunView, ...]
    """Where the studies come from."""
    finals: Mapping[int, ByUnit]
    """Scores by search, then by unit."""
    ground: Ground
    """What its units are, and how a mean over them is judged."""

    @property
    def values(self) -> dict[Unit, float]:
        """The score of each unit: a split, or a search averaged over its splits."""
        if self.ground.over_searches:
            return {(search,): fmean(own.values()) for search, own in self.finals.items()}
        return {unit: score for own in self.finals.values() for unit, score in own.items()}

    @property
    def study(self) -> StudyView:
        """The first of its studies: all have the same method, condition and protocol."""
        return self.studies[0]

    @property
    def is_error(self) -> bool:
        """Whether a lower value is better."""
        return self.sign < 0

    @property
    def sign(self) -> float:
        """1 where a higher value is better, else -1."""
        return self.ground.sign

    @property
    def scores(self) -> list[list[float]]:
        """Scores of each search."""
        return [list(own.values()) for own in self.finals.values()]

    def estimate(self, searches: Sequence[Sequence[float]], tests: int = 1) -> Estimate:
        """The mean of scores or gains of each search, with an interval over the units."""
        share = self.ground.test_share
        if self.ground.over_searches:
            return estimate_of_means(searches, share, tests=tests)
        return estimate([v for own in searches for v in own], share, tests=tests)


def samples_of(
    runs: Iterable[RunView], columns: Collection[str] = (), *, new_data: bool = False
) -> dict[Place, Sample]:
    """A sample for every place of the table with finals, in the order of the studies.

    ``new_data`` widens intervals for splits that share nodes (Nadeau and Bengio).
    """
    found: dict[Place, list[tuple[RunView, StudyView]]] = {}
    for run in runs:
        for study in run.studies:
            if study.finals:
                place = to_cell((study.graph, study.condition, study.method), columns)
                found.setdefault(place, []).append((run, study))
    return {place: _sample(place, own, new_data=new_data) for place, own in found.items()}


def _sample(place: Place, found: Sequence[tuple[RunView, StudyView]], *, new_data: bool) -> Sample:
    runs = {run.name: run for run, _ in found}
    studies = tuple(study for _, study in found)
    searches = any(run.budget["searches"] > 1 for run in runs.values())
    ground = _ground(studies, over_searches=searches, new_data=new_data)
    return Sample(
        place=place,
        studies=studies,
        runs=tuple(runs.values()),
        finals={study.search: by_unit(study.finals, ground.protocol) for study in studies},
        ground=ground,
    )


def _ground(studies: Sequence[StudyView], *, over_searches: bool, new_data: bool) -> Ground:
    planned, protocol = studies[0].planned, PROTOCOLS[studies[0].protocol]
    share = 0.0
    if new_data and protocol.units == "split":
        finals = [final for study in studies for final in study.finals]
        share = fmean(final.test_nodes / final.train_nodes for final in finals)
    by_precision = planned.precision and not over_searches and protocol.units != "file"
    return Ground(
        protocol=protocol,
        sign=1.0 if metric_named(planned.metric).higher_is_better else -1.0,
        over_searches=over_searches,
        test_share=share,
        first=int(planned.precision["at_least"]) if planned.precision and by_precision else None,
    )
