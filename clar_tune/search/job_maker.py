"""Jobs of trials: the repeats up to where a trial is judged, or one final."""

from collections.abc import Mapping

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
        return self._job(study, trial, "repeat", range(trial.repeats, last), left)

    def final(self, study: StudyState, trial: Trial, number: int) -> Job:
        """One final of a winner."""
        return self._job(study, trial, "final", range(number, number + 1), self._timeout)

    def _job(
        self, study: StudyState, trial: Trial, purpose: str, numbers: range, timeout: float
    ) -> Job:
        plan = study.plan
        graph_hash = self._graph_hashes[plan.columns.graph]
        return Job(
            study=study.place,
            trial=trial.trial,
            purpose=purpose,
            first=numbers.start,
            specs=tuple(plan.spec(trial.params, purpose, n, graph_hash) for n in numbers),
            variant=plan.variant,
            seed=plan.seed,
            timeout=timeout,
            alone=(study.place, trial.trial) in self.alone,
        )
