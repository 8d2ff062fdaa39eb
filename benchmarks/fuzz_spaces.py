"""Mutated and hostile space files: whatever they hold, each is read or refused in two seconds."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TookTooLong(BaseException):
    """Not an ``Exception``, which code under test may catch."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise once the process has worked for so long: time of processors, however busy they are."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
