"""What Ctrl-C and SIGTERM do to a run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from clar_tune.search import Limits


@contextmanager
def interruptible(limits: Limits) -> Iterator[None]:
    """The first Ctrl-C or SIGTERM drains, the second stops at once.

    Python hears signals in its main thread only: elsewhere they stay what they are.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if limits.draining:
            raise KeyboardInterrupt
        limits.draining = True

    heard = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if heard else ()
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
