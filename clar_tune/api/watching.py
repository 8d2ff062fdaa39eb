"""Who follows the work on a run; unless somebody is given, nobody."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from clar_tune.cluster import View
    from clar_tune.search import Limits, Scheduler
    from clar_tune.store import Store


class Observer(Protocol):
    """Follows the work on a run."""

    def __call__(self, name: str, store: Store, limits: Limits) -> AbstractContextManager[View]:
        """What shows the run: entered before its driver begins, left when that has ended.

        ``limits.draining`` may be set at any time, from any thread: trainings under way are
        then finished and stored, and nothing new starts.
        """


class _Unseen:
    """Shows nothing."""

    def __call__(self, scheduler: Scheduler) -> None:
        pass

    def close(self, scheduler: Scheduler) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass


def quietly(text: str) -> None:
    """Tell nobody."""


def unobserved(name: str, store: Store, limits: Limits) -> AbstractContextManager[View]:
    """Follow nothing."""
    return nullcontext(_Unseen())
