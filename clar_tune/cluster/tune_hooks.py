"""Tune's hooks, each a few lines that pass on to our scheduler.

Tune asks in this order for one result: its scheduler, its searcher, the callbacks; only then
the decision is carried out. Ours writes rows inside the hook of Tune's scheduler: a result is
durable before anyone acts on it.
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
from clar_tune.cluster.ray_internals import (
    actor_of,
    forget_results,
    live_trials,
    node_of_worker,
)
from clar_tune.cluster.time_limits import GRACE
from clar_tune.cluster.worker import FETCH
from clar_tune.search import BrokenProcess, Scheduler

SILENCE = FETCH + GRACE + 60.0
"""Seconds beyond its time limit after which a worker that says nothing is ended from outside."""


TRIALS_PER_TUNER = 5_000
"""Trials after which Tune begins anew: it remembers every one, about 20 KB each."""


class Over(Exception):
    """Nothing is left to do.

    Tune ends orderly with a snapshot and an analysis of every trial there was, which nobody
    reads. An exception ends it as well, and at once.
    """


class FirstError:
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
    """Asks the scheduler for the next assignment, if there is room for one.

    Tune's own limit of trials at once is fixed when it starts; machines come and go.
    """

    def __init__(self, scheduler: Scheduler, capacity: Capacity, first_error: FirstError) -> None:
        super().__init__()
        self._scheduler, self._capacity, self._first_error = scheduler, capacity, first_error
        self._given = 0

    @property
    def worn(self) -> bool:
        """Whether Tune has had as many trials as it is to remember."""
        return self._given >= TRIALS_PER_TUNER

    def suggest(self, trial_id: str) -> Any:
        """An assignment, nothing for now while others are out, or the end."""
        if not self._capacity.has_room(self._scheduler.graphs_at_work):
            return None
        given = None
        if not self.worn:
            given = self._first_error.guard(lambda: self._scheduler.assign(trial_id))
        if given is not None:
            self._given += 1
            return {"assignment": given}
        self._first_error.over = self._first_error.error is not None or not self._scheduler.live
        return Searcher.FINISHED if self._first_error.over else None

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Nothing is left to do: results came through Tune's scheduler, losses come below."""

    def save(self, checkpoint_path: str) -> None:
        """Nothing is kept here: runs are resumed from the store."""

    def restore(self, checkpoint_path: str) -> None:
        """See :meth:`save`."""


class StudyScheduler(Unsaved, FIFOScheduler):
    """Lets the scheduler, and through it each study's rungs, judge every result."""

    def __init__(self, scheduler: Scheduler, first_error: FirstError) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._scheduler, self._first_error = scheduler, first_error

    def on_trial_result(self, controller: Any, trial: Trial, result: dict[str, Any]) -> str:
        """Write the result down; go on or stop."""
        batch, node = result["batch"], result["node"]
        goes_on = self._first_error.guard(
            lambda: self._scheduler.receive(trial.trial_id, batch, node), otherwise=False
        )
        return str(TrialScheduler.CONTINUE if goes_on else TrialScheduler.STOP)

    def choose_trial_to_run(self, controller: Any) -> Trial | None:
        """Of the trials that wait the one whose job went out first; others are not looked at."""
        live = live_trials(controller)
        waiting = {trial.trial_id: trial for trial in live if trial.status == Trial.PENDING}
        return next((waiting[t] for t in self._scheduler.live if t in waiting), None)


class RunCallback(Unsaved, Callback):
    """Losses of workers, the driver's regular duties, and errors that end the run."""

    def __init__(
        self, scheduler: Scheduler, first_error: FirstError, tick: Callable[[], None]
    ) -> None:
        self._scheduler, self._first_error, self._tick = scheduler, first_error, tick

    def on_trial_start(self, iteration: int, trials: Any, trial: Trial, **info: Any) -> None:
        """A worker begins with a job."""
        self._first_error.guard(lambda: self._scheduler.started(trial.trial_id))

    def on_trial_result(
        self, iteration: int, trials: Any, trial: Trial, result: dict[str, Any], **info: Any
    ) -> None:
        """What was written down need not stay in Tune's memory."""
        result.pop("batch", None)

    def on_trial_complete(self, iteration: int, trials: Any, trial: Trial, **info: Any) -> None:
        """Tune keeps every trial there ever was: of one that ended its name is enough."""
        trial.set_config({})  # type: ignore[no-untyped-call]
        forget_results(trial)

    def on_trial_error(self, iteration: int, trials: Any, trial: Trial, **info: Any) -> None:
        """Only a lost worker is an error of Tune's: trainings that fail are results."""
        self._first_error.guard(lambda: self._lose(trial))

    def on_step_end(self, iteration: int, trials: Any, **info: Any) -> None:
        """Several times a second."""
        self._first_error.guard(self._tick)
        self._end_silent(trials)
        done = self._first_error.guard(self._scheduler.recall)
        if self._first_error.error is not None:
            raise self._first_error.error
        if done or self._first_error.over:
            self._first_error.over = True
            raise Over

    def _lose(self, trial: Trial) -> None:
        file = trial.error_file
        text = Path(file).read_text() if file and Path(file).exists() else ""
        self._scheduler.lose(trial.trial_id, _cause(text), node_of_worker(text))

    def _end_silent(self, trials: Any) -> None:
        """End workers that are stuck where their own time limit cannot reach: they are lost."""
        silent = self._scheduler.overdue(SILENCE)
        for trial in trials if silent else ():
            actor = actor_of(trial) if trial.trial_id in silent else None
            if actor is not None:
                ray.kill(actor)


def _cause(text: str) -> str:
    """What Ray, or the worker itself, says of a lost one, in one line."""
    _, broken, own = text.rpartition(f"{BrokenProcess.__name__}: ")
    if broken:
        return own.strip()[:500]
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip()]
    told = [line for line in lines if "died" in line.lower() or "killed" in line.lower()]
    if "raised in its creation task" in text:  # what it raised stands last
        told = []
    cause, _, _ = (told or lines or ["no reason given"])[-1].partition(" Some common causes")
    return cause[:500]
