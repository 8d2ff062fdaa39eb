"""Which hosts of a run break workers; a host is known here by an id and nothing else."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

Task = tuple[int, int, str | None]
"""A study's place in the plan, the number of a trial and, of a final, which it is."""

LOST_IN_A_ROW = 3
"""Trials, or finals, whose workers are lost on a host, one after the other, until it is left out.

One or two may have lost theirs by their own fault: a model that crashes does so anywhere. As a
job is handed out again more often than that, a host is left out before it has failed a trial of
which another host is there to take care.
"""


@dataclass(slots=True)
class _Streak:
    """Losses on a host since a training was finished there."""

    tasks: set[Task] = field(default_factory=set)
    last: float = float("-inf")


class Hosts:
    """What became of workers on each host, for as long as a driver lives."""

    def __init__(self, able: Callable[[str], Collection[str]] = lambda graph: ()) -> None:
        self._able = able  # the hosts that are there and can hold a job on a graph
        self.left_out: dict[str, str] = {}
        """Hosts that get no more jobs, each with the cause of its last loss."""
        self._streaks: dict[str, _Streak] = {}
        self._lost_on: dict[Task, set[str]] = {}

    def finish(self, host: str) -> None:
        """A training was finished on a host: it is able to do that."""
        self._streaks.pop(host, None)

    def lose(self, host: str, task: Task, since: float, now: float, cause: str) -> None:
        """A worker that had its job since some time was lost.

        Workers that were at work together when one was lost count as one with it: so it is when
        a machine goes.
        """
        self._lost_on.setdefault(task, set()).add(host)
        streak = self._streaks.setdefault(host, _Streak())
        if since < streak.last:
            return
        streak.tasks.add(task)
        streak.last = now
        if len(streak.tasks) >= LOST_IN_A_ROW:
            self.left_out.setdefault(host, cause)

    def avoided(self, graph: str, task: Task) -> frozenset[str]:
        """Hosts that a job is kept away from.

        They are those left out and, while another is there, those that lost its worker before.
        """
        shunned = frozenset(self.left_out) | self._lost_on.get(task, frozenset())
        if not shunned or set(self._able(graph)) - shunned:
            return shunned
        return frozenset(self.left_out)

    def strand(self, graph: str, avoided: frozenset[str]) -> bool:
        """Whether a job that waits for another host than these waits in vain by now."""
        able = set(self._able(graph)) - self.left_out.keys()
        return bool(able) and able <= avoided
