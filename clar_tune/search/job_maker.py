"""Jobs of trials: the repeats up to where a trial is judged, or one final."""

from collections.abc import Mapping

from clar_tune.records import Params, TrainSpec
from clar_tune.search.jobs import Job
from clar_tune.search.study import StudyState
from clar_tune.search.trial import Trial


class JobMaker:
    """Makes jobs of a run, whose graphs are known by their hashes."""

    def __init__(self, graph_hashes: Mapping[str, str], timeout: float) -> None:
        self._graph_hashes, self._timeout = graph_hashes, timeout
        self.alone: set[tuple[int, int]] = set()
        """Study and number of the trials for which a share of a GPU has too little memory."""

    def repeats(self, study: StudyState, trial: Trial) -> Job:
        """The repeats of a trial up to where it is judged, in the time that it has left."""
        left = max(self._timeout - trial.seconds, 0.0)
        last = study.next_rung(trial.repeats)
        specs = self._specs(study, trial.params, "repeat", range(trial.repeats, last))
        return self._job(study, trial, "repeat", trial.repeats, specs, left)

    def final(self, study: StudyState, arm: str, number: int) -> Job:
        """One final of a winner."""
        assert study.best is not None
        params, numbers = study.finals.arms[arm], range(number, number + 1)
        specs = self._specs(study, params, "final", numbers, arm)
        return self._job(study, study.best, "final", number, specs, self._timeout)

    def _specs(
        self, study: StudyState, params: Params, purpose: str, numbers: range, arm: str = "on"
    ) -> tuple[TrainSpec, ...]:
        graph_hash = self._graph_hashes[study.plan.columns.graph]
        return tuple(study.plan.spec(params, purpose, n, graph_hash, arm) for n in numbers)

    def _job(
        self,
        study: StudyState,
        trial: Trial,
        purpose: str,
        first: int,
        specs: tuple[TrainSpec, ...],
        timeout: float,
    ) -> Job:
        return Job(
            study=study.place,
            trial=trial.trial,
            purpose=purpose,
            first=first,
            specs=specs,
            variant=study.plan.variant,
            seed=study.plan.seed,
            timeout=timeout,
            alone=(study.place, trial.trial) in self.alone,
        )
