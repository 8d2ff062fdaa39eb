"""What a worker is handed at once, and the batches in which it sends back what came of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from clar_tune.search.jobs import Failure, Job, Outcome

BATCH = 2.0
"""Seconds of training after which a worker sends back what it has done.

That is the most that a driver's death costs of a worker's time, and what a drain or the end of a
time budget waits for at most, besides the training under way.
"""

FILL = BATCH / 2
"""Seconds of training, as measured before, up to which jobs are put together."""

MOST_JOBS = 32
"""Most jobs of an assignment: what Tune takes for each is shared by then."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Jobs that one worker does one after the other: on one graph, none that follows from another.

    There is one job of a study at most, or there are finals. So what a job is never depends on
    which others it was put together with.
    """

    jobs: tuple[Job, ...]

    @property
    def graph(self) -> str:
        """The graph of all of them."""
        return self.jobs[0].spec.graph

    @property
    def avoid(self) -> frozenset[str]:
        """Hosts that it is not to be done on."""
        return self.jobs[0].avoid

    @property
    def alone(self) -> bool:
        """Whether it gets a whole GPU."""
        return self.jobs[0].alone

    def __deepcopy__(self, memo: object) -> "Assignment":
        return self  # Tune copies it again and again, and nothing of it changes


Done = tuple[int, Outcome]
"""What came of one training, with the place of its job in the assignment."""

Train = Callable[[Job, int, float], Outcome]
"""Does training number n of a job, until its time is over."""


class Work:
    """How far a worker is with an assignment."""

    def __init__(self, assignment: Assignment, now: Callable[[], float] = time.monotonic) -> None:
        self._jobs, self._now = assignment.jobs, now
        self._place, self._index = 0, self._jobs[0].first
        self._ends: float | None = None  # of the job, once it has begun

    def batch(self, train: Train) -> list[Done]:
        """Train until that took long enough, a training failed or nothing is left."""
        done: list[Done] = []
        began = self._now()
        while self._place < len(self._jobs):
            job = self._jobs[self._place]
            if self._ends is None:
                self._ends = self._now() + job.timeout
            outcome = train(job, self._index, self._ends)
            done.append((self._place, outcome))
            self._index += 1
            failed = isinstance(outcome, Failure)
            if failed or self._index == job.last:
                self._next_job()
            if failed or self._now() - began >= BATCH:
                break
        return done

    def _next_job(self) -> None:
        self._place, self._ends = self._place + 1, None
        if self._place < len(self._jobs):
            self._index = self._jobs[self._place].first
