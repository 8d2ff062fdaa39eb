"""Tune's hooks, each a few lines that pass on to the conductor.

Tune asks in this order for one result: the scheduler, the searcher, the callbacks; only then
the scheduler's decision is carried out. The conductor writes rows inside the scheduler's hook:
a result is durable before anyone acts on it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.tune import Callback
from ray.tune.experiment import Trial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import Searcher

from clar_tune.cluster.capacity import Capacity
from clar_tune.cluster.ray_internals import actor_of, forget_results, live_trials
from clar_tune.cluster.worker import FETCH, GRACE
from clar_tune.search import Conductor

SILENCE = FETCH + GRACE + 60.0
"""Seconds beyond its time limit after which a worker that says nothing is ended from outside."""


class Over(Exception):
    """Nothing is left to do.

    Tune ends orderly with a snapshot and an analysis of every trial there was, which nobody
    reads. An exception ends it as well, and at once.
    """


class Failsafe:
    """Keeps the first error of a hook: Tune would take it for a failed trial, or reword it."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.over = False

    def guard(self, call: Callable[[], Any], otherwise: Any = None) -> Any:
        """The result of a call, or ``otherwise`` if it raises."""
        try:
            return call()
        except Exception as error:  # whatever it is, the driver raises it again
            self.error = self.error or error
            return otherwise


class Unsaved:
    """Tune pickles its hooks when it starts; nothing is ever restored from that."""

    def __getstate__(self) -> dict[str, Any]:
        return {}


class StudySearcher(Unsaved, Searcher):
    """Asks the conductor for the next job, if there is room for one.

    Tune's own limit of trials at once is fixed when it starts; machines come and go.
    """

    def __init__(self, conductor: Conductor, capacity: Capacity, failsafe: Failsafe) -> None:
        super().__init__()
        self._conductor, self._capacity, self._failsafe = conductor, capacity, failsafe

    def suggest(self, trial_id: str) -> Any:
        """A job, nothing for now while others are out, or the end."""
        if not self._capacity.has_room(self._conductor.graphs_at_work):
            return None
        job = self._failsafe.guard(lambda: self._conductor.next_job(trial_id))
        if job is not None:
            return {"job": job}
        self._failsafe.over = self._failsafe.error is not None or not self._conductor.live
        return Searcher.FINISHED if self._failsafe.over else None

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Nothing is left to do: results came through the scheduler, losses come below."""

    def save(self, checkpoint_path: str) -> None:
        """Nothing is kept here: runs are resumed from the store."""

    def restore(self, checkpoint_path: str) -> None:
        """See :meth:`save`."""


class StudyScheduler(Unsaved, FIFOScheduler):
    """Lets the conductor, and through it each study's rungs, judge every result."""

    def __init__(self, conductor: Conductor, failsafe: Failsafe) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._conductor, self._failsafe = conductor, failsafe

    def on_trial_result(self, controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Write the result down; go on or stop."""
        outcome = result["outcome"]
        goes_on = self._failsafe.guard(
            lambda: self._conductor.receive(trial.trial_id, outcome), otherwise=False
        )
        return str(TrialScheduler.CONTINUE if goes_on else TrialScheduler.STOP)

    def choose_trial_to_run(self, controller: Any) -> Trial | None:
        """Of the trials that wait the one whose job went out first; others are not looked at."""
        live = live_trials(controller)
        waiting = {trial.trial_id: trial for trial in live if trial.status == Trial.PENDING}
        return next((waiting[t] for t in self._conductor.live if t in waiting), None)


class RunCallback(Unsaved, Callback):
    """Losses of workers, the driver's regular duties, and errors that end the run."""

    def __init__(self, conductor: Conductor, failsafe: Failsafe, tick: Callable[[], None]) -> None:
        self._conductor, self._failsafe, self._tick = conductor, failsafe, tick

    def on_trial_start(self, iteration: int, trials: Any, trial: Trial, **info: Any) -> None:
        """A worker begins with a job."""
        self._failsafe.guard(lambda: self._conductor.started(trial.trial_id))

    def on_trial_result(
        self, iteration: int, trials: Any, trial: Trial, result: dict[str, Any], **info: Any
    ) -> None:
        """What was written down need not stay in Tune's memory."""
        result.pop("outcome", None)

    def on_trial_complete(self, iteration: int, trials: Any, trial: Trial, **info: Any) -> None:
        """Tune keeps every trial there ever was: of one that ended its name is enough."""
        trial.set_config({})  # type: ignore[no-untyped-call]
        forget_results(trial)

    def on_trial_error(self, iteration: int, trials: Any, trial: Trial, **info: Any) -> None:
        """Only a lost worker is an error of Tune's: trainings that fail are results."""
        self._failsafe.guard(lambda: self._conductor.lose(trial.trial_id, _cause(trial)))

    def on_step_end(self, iteration: int, trials: Any, **info: Any) -> None:
        """Several times a second."""
        self._failsafe.guard(self._tick)
        self._end_silent(trials)
        done = self._failsafe.guard(self._conductor.recall)
        if self._failsafe.error is not None:
            raise self._failsafe.error
        if done or self._failsafe.over:
            self._failsafe.over = True
            raise Over

    def _end_silent(self, trials: Any) -> None:
        """End workers that are stuck where their own time limit cannot reach: they are lost."""
        silent = self._conductor.overdue(SILENCE)
        for trial in trials if silent else ():
            actor = actor_of(trial) if trial.trial_id in silent else None
            if actor is not None:
                ray.kill(actor)


def _cause(trial: Trial) -> str:
    """What Ray says of a lost worker, in one line."""
    file = trial.error_file
    text = Path(file).read_text() if file and Path(file).exists() else ""
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip()]
    told = [line for line in lines if "died" in line.lower() or "killed" in line.lower()]
    cause, _, _ = (told or lines or ["no reason given"])[-1].partition(" Some common causes")
    return cause[:500]
