"""Ends what a private cluster leaves behind, even if its driver is killed."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

MARK = "CLAR_TUNE_CLUSTER"
"""A variable in the environment of every process of the cluster."""

WAIT_AND_KILL = """\
read _
while pids=$(grep -ls "$1" /proc/[0-9]*/environ | cut -d / -f 3) && [ -n "$pids" ]; do
    kill -9 $pids
    sleep 0.3
done
"""


@contextmanager
def guarded() -> Iterator[None]:
    """Processes that Ray starts in the block end with it, or with this process.

    The kernel ends most of them with the driver. But Ray's agents would try for a minute to
    tell the dead cluster that it is dead, and workers that just start would wait for it.
    """
    mark = f"{MARK}={secrets.token_hex(16)}"
    guard = subprocess.Popen(
        ["sh", "-c", WAIT_AND_KILL, "sh", mark],
        stdin=subprocess.PIPE,  # it closes when this process ends, however it does
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # out of reach of Ctrl-C
    )
    os.environ[MARK] = mark.partition("=")[2]
    try:
        yield
    finally:
        del os.environ[MARK]
        guard.communicate()
