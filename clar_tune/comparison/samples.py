"""Finals of one method on one row, gathered over searches and averaged within splits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from clar_tune.overview import RunView, StudyView
from clar_tune.splits import PROTOCOLS
from clar_tune.winners import LOWER_IS_BETTER

Place = tuple[str, str, str]
"""Graph, condition, method."""
Unit = tuple[int, ...]
"""What pairs finals of different methods: the split, on fixed splits with the seed."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The studies of one place, and their finals by unit."""

    place: Place
    studies: tuple[StudyView, ...]
    values: Mapping[Unit, float]
    test_share: float
    """Test nodes per training node where splits are drawn again and again, else 0."""

    @property
    def method(self) -> str:
        """The method."""
        return self.place[2]

    @property
    def metric(self) -> str:
        """What the values are."""
        return self.studies[0].metric

    @property
    def sign(self) -> float:
        """1 where a higher value is better, else -1."""
        return -1.0 if self.metric in LOWER_IS_BETTER else 1.0

    @property
    def decides(self) -> bool:
        """Whether its protocol allows a verdict."""
        return PROTOCOLS[self.studies[0].protocol].verdict


def samples_of(runs: Iterable[RunView]) -> dict[Place, Sample]:
    """A sample for every place with finals, in the order of the studies."""
    studies: dict[Place, list[StudyView]] = {}
    for run in runs:
        for study in run.studies:
            if study.finals:
                place = study.graph, study.condition, study.method
                studies.setdefault(place, []).append(study)
    return {place: _sample(place, found) for place, found in studies.items()}


def _sample(place: Place, studies: list[StudyView]) -> Sample:
    finals = [final for study in studies for final in study.finals]
    protocol = PROTOCOLS[studies[0].protocol]
    scores: dict[Unit, list[float]] = {}
    for final in finals:
        scores.setdefault(_unit(final, fixed=bool(protocol.fixed)), []).append(final["test_score"])
    share = 0.0
    if protocol.verdict and not protocol.fixed:
        share = fmean(final["test_nodes"] / final["train_nodes"] for final in finals)
    values = {unit: fmean(found) for unit, found in scores.items()}
    return Sample(place, tuple(studies), values, share)


def _unit(final: Mapping[str, Any], *, fixed: bool) -> Unit:
    split = final["split_seed"]
    return (split, final["init_seed"]) if fixed else (split,)
