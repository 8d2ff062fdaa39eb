"""Named points at which a test may stop a driver; nobody else sets the variable."""

import os
import signal

VARIABLE = "CLAR_TUNE_STOP_AT"
"""``point``, ``point word`` for paths that hold the word, or ``point word 3`` for the third."""

_reached = 0


def reach(point: str, path: object = "") -> None:
    """Stop this process here, once, if the variable says so."""
    if VARIABLE in os.environ:
        _stop(point, str(path))


def _stop(point: str, path: str) -> None:
    global _reached
    wanted, word, times = (*os.environ[VARIABLE].split(), "", "")[:3]
    if point != wanted or word not in path:
        return
    _reached += 1
    if _reached == int(times or 1):
        os.kill(os.getpid(), signal.SIGSTOP)
