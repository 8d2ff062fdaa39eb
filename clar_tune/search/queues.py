"""What waits to be handed out, and how much of it goes to one worker."""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from clar_tune.search.assignment import FILL, MOST_JOBS
from clar_tune.search.finals import ORDER
from clar_tune.search.jobs import Job
from clar_tune.search.pace import beside
from clar_tune.search.study import StudyState

T = TypeVar("T")

Cost = Callable[[T], float | None]
"""Seconds that something will take; none if it is to be done alone."""


class Queues:
    """Unfinished trials and lost jobs first, then finals, then studies that may ask.

    Short ones go to a worker together. That changes no proposal: a study has one trial at most
    among them, and while anything waits no study is asked, so that with one worker a study is
    asked when all of its trials have ended, whatever was put together.
    """

    def __init__(self, studies: Sequence[StudyState], graphs: Sequence[str]) -> None:
        self.first: deque[Job] = deque()
        self._finals: dict[tuple[int, int], deque[Job]] = {}  # by graph and arm
        self._studies = studies
        self._places = {graph: number for number, graph in enumerate(graphs)}
        self._asking: list[list[tuple[int, int]]] = [[] for _ in graphs]
        """By graph, a heap of the studies that may ask: trials so far, place in the plan."""
        self.put_back(studies)

    def renew(self) -> None:
        """The studies were restored."""
        for heap in self._asking:
            heap.clear()
        self.put_back(self._studies)

    def keep_finals(self) -> None:
        """The search is over."""
        self.first = deque(job for job in self.first if job.purpose == "final")
        for heap in self._asking:
            heap.clear()

    def add_final(self, job: Job) -> None:
        """A final that is to be trained: graph by graph, within one arm by arm."""
        place = self._places[job.spec.graph], ORDER.index(job.arm)
        self._finals.setdefault(place, deque()).append(job)

    @property
    def finals(self) -> Iterator[Job]:
        """All finals that wait in their own queue."""
        return chain.from_iterable(self._finals.values())

    def waiting(self, workers: int, cost: Cost[Job]) -> list[Job]:
        """The jobs that a worker gets of those that wait; none if none waits."""
        queue = self.first or self._first_finals()
        jobs = _together(queue, _share(len(queue), workers), cost, self._least, _fits)
        for _ in jobs:
            queue.popleft()
        return jobs

    def asking(self, workers: int, cost: Cost[StudyState]) -> list[StudyState]:
        """The studies that are to ask next: graph by graph, within one those that asked least."""
        heap = next(filter(None, self._asking), [])
        share = _share(len(heap), workers)
        least = (self._studies[place] for _, place in heapq.nsmallest(share, heap))
        studies = _together(least, share, cost, beside)
        for _ in studies:
            heapq.heappop(heap)
        return studies

    def _least(self, job: Job) -> int:
        return beside(self._studies[job.study])

    def _first_finals(self) -> deque[Job]:
        """The finals that come first: they are few kinds at a time."""
        self._finals = {place: jobs for place, jobs in self._finals.items() if jobs}
        return self._finals[min(self._finals)] if self._finals else deque()

    def put_back(self, studies: Iterable[StudyState]) -> None:
        """Studies that have asked, or may do so for the first time."""
        for study in studies:
            if study.may_ask and not study.waits:
                heap = self._asking[self._places[study.plan.columns.graph]]
                heapq.heappush(heap, (study.asked, study.place))


def _share(count: int, workers: int) -> int:
    """How many of so many one worker gets, so that something is left for the others."""
    return min(-(-count // workers), MOST_JOBS)


def _together(
    queue: Iterable[T],
    share: int,
    cost: Cost[T],
    beside: Callable[[T], int],
    fits: Callable[[Sequence[T], T], bool] = lambda chosen, other: True,
) -> list[T]:
    """The first of a queue, and as many after it as are short enough to go with it.

    A worker that does several side by side gets so many, however long they are.
    """
    chosen: list[T] = []
    left = FILL
    for other in queue:
        seconds = cost(other)
        if seconds is None:
            return chosen or [other]
        full = bool(chosen) and len(chosen) >= beside(chosen[0])
        if full and (left <= 0 or seconds > left) or chosen and not fits(chosen, other):
            break
        chosen.append(other)
        left -= seconds
        if len(chosen) >= share:
            break
    return chosen


def _fits(chosen: Sequence[Job], other: Job) -> bool:
    """Whether a job may go to a worker with others: nothing of it follows from one of them."""
    one = chosen[0]
    if one.alone or other.alone:
        return False
    if (other.spec.graph, other.purpose) != (one.spec.graph, one.purpose):
        return False
    return other.purpose == "final" or other.study not in {job.study for job in chosen}
