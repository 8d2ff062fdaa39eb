"""What a worker is handed at once, and the batches in which it sends back what came of it."""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar

from clar_tune.search.jobs import Failure, Job, Outcome

T = TypeVar("T")

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
    """Jobs that one worker does in their order: on one graph, none that follows from another.

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

    def batch(self, train: Train, beside: int = 1) -> list[Done]:
        """Train until that took long enough, a training failed or nothing is left.

        So many trainings run beside each other, each in a thread of its own. Whichever ends
        first, they come back in their order, and none of a job that follows on a failed one.
        """
        done, running = list[Done](), set[Future[Done]]()
        began, closing = self._now(), False
        with _threads(beside) as threads:
            while True:
                while not closing and self._place < len(self._jobs) and len(running) < beside:
                    running.add(self._begin(train, threads))
                if not running:
                    break
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for place, outcome in (future.result() for future in ended):
                    done.append((place, outcome))
                    if isinstance(outcome, Failure):
                        closing = True
                        self._leave(place)
                closing = closing or self._now() - began >= BATCH
        return _without_later(sorted(done, key=lambda one: (one[0], one[1].index)))

    def _begin(self, train: Train, threads: Executor) -> Future[Done]:
        """Begin the next training."""
        place, index, job = self._place, self._index, self._jobs[self._place]
        if self._ends is None:
            self._ends = self._now() + job.timeout
        ends = self._ends
        self._index += 1
        if self._index == job.last:
            self._next_job()
        return threads.submit(lambda: (place, train(job, index, ends)))

    def _leave(self, place: int) -> None:
        """Begin no more trainings of a job that has failed."""
        if self._place == place:
            self._next_job()

    def _next_job(self) -> None:
        self._place, self._ends = self._place + 1, None
        if self._place < len(self._jobs):
            self._index = self._jobs[self._place].first


def _without_later(done: Iterable[Done]) -> list[Done]:
    """All but what was trained of a job beside a training that failed before it."""
    failed: set[int] = set()
    kept = []
    for place, outcome in done:
        if place not in failed:
            kept.append((place, outcome))
        if isinstance(outcome, Failure):
            failed.add(place)
    return kept


def _threads(count: int) -> Executor:
    return ThreadPoolExecutor(count) if count > 1 else _Here()


class _Here(Executor):
    """Does what it is given at once: signals, and torch's generator, are for this thread alone."""

    def submit(self, function: Callable[..., T], /, *args: Any, **named: Any) -> Future[T]:
        """What has come of a call."""
        future = Future[T]()
        future.set_result(function(*args, **named))
        return future
