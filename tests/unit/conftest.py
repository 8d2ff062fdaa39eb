"""Unit tests start no process and open no connection: what does belongs to another folder.

Programs are compiled in processes of their own, once for all tests.
"""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from clar_tune.graphs import threads

FORBIDDEN = ("subprocess.Popen", "os.posix_spawn", "os.fork", "socket.connect", "socket.bind")
_guarded = False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if _guarded and event in FORBIDDEN and "compile_here" not in str(arguments[1:2]):
        raise AssertionError(f"a unit test must not cause {event}: {arguments[:2]}")


sys.addaudithook(_refuse)  # it stays for the life of the process: the flag turns it on


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Fail whatever reaches out of the test's own process."""
    global _guarded
    _guarded = True
    yield
    _guarded = False


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Every worker has a processor: with more threads torch would wait for the other worker."""
    if "torch" not in sys.modules:
        yield
        return
    with threads(1):
        yield
