"""Which process wrote a lease, and what another one can know of it."""

import os
import time
from functools import cache
from pathlib import Path


def runs(pid: int, born: str) -> bool:
    """Is it still the same process? Yes where that cannot be known."""
    if namespace() != born.partition(" ")[0]:
        return True  # another container: its process numbers mean nothing here
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return birth(pid) == born


def birth(pid: int) -> str:
    """The namespace of process numbers and the start of a process, where /proc tells them."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return f"{namespace()} ?"
    if after_name[0] in "ZX":
        return "ended"  # nobody has asked for its exit code yet
    return f"{namespace()} {after_name[19]}"


def namespace() -> str:
    """What tells process numbers of two containers apart."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "?"


@cache
def boot() -> str:
    """Names the start of this machine, and with it its monotonic clock; empty if unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def clock() -> float:
    """Seconds on the clock that all processes since one start of the machine share."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)
