"""How long trainings take, by those that were done."""

import math
from collections.abc import Iterable, Sequence

from clar_tune.search.assignment import BATCH
from clar_tune.search.jobs import Job
from clar_tune.search.out import Out
from clar_tune.search.study import StudyState
from clar_tune.training import side_by_side


class Pace:
    """Seconds of a training: by those of its study, else of its graph, else of all.

    Where a worker does several side by side, a training counts with its share of them.
    """

    def __init__(self, studies: Sequence[StudyState]) -> None:
        self._studies = studies
        self._most = max((study.plan.rules.repeats for study in studies), default=1)
        self._graphs: dict[str, tuple[int, float]] = {}

    def add(self, graph: str, trainings: int, seconds: float) -> None:
        """Take in trainings on a graph."""
        count, before = self._graphs.get(graph, (0, 0.0))
        self._graphs[graph] = count + trainings, before + seconds

    def of_job(self, job: Job) -> float | None:
        """Seconds that a job will take; none if it is to be done alone.

        It is while nothing was measured on its graph, after it was lost, as what broke a worker
        is not to break the work of others, and where it gets a whole GPU.
        """
        study = self._studies[job.study]
        each = self._near(study)
        alone = job.alone or study.trials[job.trial].retries
        return None if each is None or alone else each * len(job.specs)

    def of_next_trial(self, study: StudyState) -> float | None:
        """The same of a trial that a study has not asked for, up to where it is judged."""
        each = self._near(study) if study.plan.has_search else None
        return None if each is None else each * study.next_rung(0)

    def seconds_needed(self, live: Iterable[Out], finals: Iterable[Job], workers: int) -> float:
        """How long the finals that wait or are out will take, with what ends before them.

        Whatever else is out, or would go out now, ends with one batch.
        """
        batches, confirming = [_batch(self._most, self._far())], list(finals)
        for out in live:
            jobs = list(out.jobs.values())
            if out.confirms:
                confirming += jobs
            else:
                trainings = sum(job.last - self.number(job) for job in jobs)
                batches.append(_batch(trainings, self._far(self._studies[jobs[0].study])))
        seconds = sum(self._far(self._studies[job.study]) for job in confirming)
        return seconds / workers + max(batches)

    def number(self, job: Job) -> int:
        """The training that a job is at."""
        if job.purpose == "final":
            return job.first
        return self._studies[job.study].trials[job.trial].repeats

    def _near(self, study: StudyState) -> float | None:
        """Seconds of a training by those of its study or its graph; none if there are none."""
        graph = self._graphs.get(study.plan.columns.graph, (0, 0.0))
        seconds = _mean([(study.trainings, study.seconds)]) or _mean([graph])
        return seconds and seconds / beside(study)

    def _far(self, study: StudyState | None = None) -> float:
        """The same, judged by all trainings there were if need be; 0 if there were none."""
        near = self._near(study) if study else None
        return near or _mean(self._graphs.values()) or 0.0


def beside(study: StudyState) -> int:
    """How many trainings of a study a worker does at once, unless its graph is large."""
    plan = study.plan
    return side_by_side(plan.engine, plan.columns.backbone, plan.threads)


def _batch(trainings: int, each: float) -> float:
    """How long the next batch of so many trainings takes."""
    return min(trainings, math.ceil(BATCH / each)) * each if each else 0.0


def _mean(measured: Iterable[tuple[int, float]]) -> float | None:
    counts, seconds = zip(*measured, strict=True) if measured else ((), ())
    return sum(seconds) / sum(counts) if sum(counts) else None
