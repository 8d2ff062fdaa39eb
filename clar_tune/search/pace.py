"""How long trainings take, by those that were done."""

import math
from collections.abc import Iterable

from clar_tune.search.assignment import BATCH
from clar_tune.search.study import StudyState


class Pace:
    """Seconds of a training: by those of its study, else of its graph, else of all."""

    def __init__(self) -> None:
        self._graphs: dict[str, tuple[int, float]] = {}

    def add(self, graph: str, trainings: int, seconds: float) -> None:
        """Take in trainings on a graph."""
        count, before = self._graphs.get(graph, (0, 0.0))
        self._graphs[graph] = count + trainings, before + seconds

    def near(self, study: StudyState) -> float | None:
        """Seconds of a training by those of its study or its graph; none if there are none."""
        graph = self._graphs.get(study.plan.columns.graph, (0, 0.0))
        return _mean([(study.trainings, study.seconds)]) or _mean([graph])

    def far(self, study: StudyState) -> float:
        """The same, judged by all trainings there were if need be; 0 if there were none."""
        return self.near(study) or self.anywhere

    @property
    def anywhere(self) -> float:
        """Seconds of a training by all that were done."""
        return _mean(self._graphs.values()) or 0.0


def batch_seconds(trainings: int, each: float) -> float:
    """How long the next batch of so many trainings takes."""
    return min(trainings, math.ceil(BATCH / each)) * each if each else 0.0


def _mean(measured: Iterable[tuple[int, float]]) -> float | None:
    counts, seconds = zip(*measured, strict=True) if measured else ((), ())
    return sum(seconds) / sum(counts) if sum(counts) else None
