"""Limits of time for trainings, of which several may run in threads of one process."""

import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from clar_tune.search import TIME_LIMIT, OutOfTime

GRACE = 10.0
"""Seconds after which a worker that does not heed a time limit ends itself."""

_ends: list[float] = []
"""When the trainings under way have to be over."""

_lock = threading.Lock()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`OutOfTime` in the block after some seconds, if this is the main thread.

    No signal reaches other threads: what runs there has to heed a limit of its own. What does
    not heed its limit, because it hangs in foreign code or swallows the exception, ends with its
    process a little later; the driver then knows why.
    """
    seconds = max(seconds, 0.001)
    with _watched(time.monotonic() + seconds), _signal(seconds):
        yield


@contextmanager
def _watched(end: float) -> Iterator[None]:
    """The process has one timer: it is set to the first of all ends."""
    with _lock:
        _ends.append(end)
        _set_timer()
    try:
        yield
    finally:
        with _lock:
            _ends.remove(end)
            _set_timer()


def _set_timer() -> None:
    faulthandler.cancel_dump_traceback_later()
    if _ends:
        left = max(min(_ends) - time.monotonic(), 0.0) + GRACE
        faulthandler.dump_traceback_later(left, exit=True, file=sys.__stderr__ or 2)


@contextmanager
def _signal(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _expire(number: int, frame: FrameType | None) -> None:
    raise OutOfTime(TIME_LIMIT)
