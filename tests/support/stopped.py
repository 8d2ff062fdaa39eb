"""Drivers as processes that stop at a named point, are overtaken, and go on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

DRIVER = Path(__file__).with_name("stoppable_driver.py")
TRIALS = 8
PATIENCE = 120.0
LEASE = "0.01/1.0"
"""So many heartbeats that even a short run has some."""


class Driver:
    """A driver that was started, perhaps one of several processes of a group."""

    def __init__(self, url: str, stop_at: str = "", *, group: bool = False, **given: str) -> None:
        environment = {**os.environ, "CLAR_TUNE_LEASE": LEASE, **given}
        environment["PYTHONPATH"] = str(DRIVER.parents[1])
        if stop_at:
            environment["CLAR_TUNE_STOP_AT"] = stop_at
        command = [sys.executable, str(DRIVER), url, str(TRIALS)]
        if group:  # as a shell would start it, with others in its group
            command = ["sh", "-c", 'sleep 600 & "$@"; code=$?; kill $!; exit $code', "-", *command]
        self.group = group
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for_stop(self) -> None:
        """Until it has stopped itself; then the rest of its group is stopped, if it has one."""
        until = time.monotonic() + PATIENCE
        while not any(one.status() == psutil.STATUS_STOPPED for one in self._tree()):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, "it reaches no such point"
            time.sleep(0.02)
        if self.group:
            os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Continue it, and all of its group."""
        os.killpg(self.process.pid, signal.SIGCONT)

    def end(self) -> tuple[int, list[str], str]:
        """Exit code, keys that it was told are safe, what it said last."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.split(), err

    def _tree(self) -> list[psutil.Process]:
        found = psutil.Process(self.process.pid)
        return [found, *found.children(recursive=True)]


@contextmanager
def driver(url: str, stop_at: str = "", *, group: bool = False, **given: str) -> Iterator[Driver]:
    """A driver that is gone with the block, whatever happens."""
    started = Driver(url, stop_at, group=group, **given)
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.process.pid, signal.SIGKILL)
        started.process.communicate()
