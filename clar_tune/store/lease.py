"""The lease of a run: one driver at a time, known by its heartbeat."""

import json
import math
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from clar_tune.errors import StoreError
from clar_tune.records import from_stored, stored_as, to_stored
from clar_tune.store.files import Files

VARIABLE = "CLAR_TUNE_LEASE"
"""Where a user says ``period/expiry``, in seconds."""

GONE = (
    "its lease is gone: another driver took over and has ended, or the store was moved or removed"
)
"""Why a driver that finds no lease may not go on: it cannot know that the run is still its own."""


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """How drivers that share a store hear of each other; it is the same for all of them."""

    period: float = 10.0
    """Seconds between two heartbeats."""
    expiry: float = 60.0
    """Seconds without a heartbeat after which a driver counts as gone."""
    settle: float = 2.0
    """Seconds until two drivers that cannot lock a folder see each other's claim."""

    @staticmethod
    def of_environment() -> "LeaseTimes":
        """What ``CLAR_TUNE_LEASE`` says, or the defaults."""
        text = os.environ.get(VARIABLE)
        if not text:
            return DEFAULT_TIMES
        try:
            period, expiry = map(float, text.split("/"))
        except ValueError:
            period = expiry = 0.0
        if not 0 < period < expiry < math.inf:
            raise StoreError(
                f"{VARIABLE}={text}: give seconds between heartbeats and seconds until a silent "
                "driver counts as gone, such as 10/60."
            )
        return LeaseTimes(period, expiry)


DEFAULT_TIMES = LeaseTimes()


@stored_as("host", "pid", "born", "nonce", "wal", "heartbeat", "seq", "released")
@dataclass(frozen=True, slots=True)
class Holder:
    """A driver, as its lease tells others."""

    host: str
    pid: int
    born: str
    """Start of the process: a process id alone may be used again."""
    nonce: str
    wal: str
    """Mark of the write-ahead file that belongs to the run's stored rows."""
    heartbeat: float
    seq: int = -1
    """Number of its last row."""
    released: bool = False

    @property
    def age(self) -> float:
        """Seconds since the last heartbeat."""
        return max(0.0, time.time() - self.heartbeat)

    def alive(self, times: LeaseTimes) -> bool:
        """May this driver still be at work?"""
        if self.released or self.age > times.expiry:
            return False
        return self.host != socket.gethostname() or _runs(self.pid, self.born)


def lease_path(run: str) -> str:
    """Where the lease of a run lies in the store."""
    return f"runs/run={run}/_lease.json"


def read_lease(files: Files, run: str) -> Holder | None:
    """Who drives a run, or drove it last without an orderly end."""
    return _holder(files.read(lease_path(run)))


def check_free(files: Files, run: str, times: LeaseTimes) -> None:
    """Fail if a driver is at work on a run, and name it; who takes the lease asks once more."""
    holder = read_lease(files, run)
    if holder is not None and holder.alive(times):
        raise _busy(holder, run)


class Lease:
    """A lease held by this process; a thread renews it."""

    def __init__(
        self, files: Files, run: str, wal: str = "", times: LeaseTimes = DEFAULT_TIMES
    ) -> None:
        """Take the lease, or fail and name the driver that has it.

        ``wal`` is the mark of the write-ahead file that lies here. It stays the run's own if
        the last driver wrote it; otherwise other rows have taken the place of its rows.
        """
        self._files, self._run, self._times = files, run, times
        self._end, self._guard = threading.Event(), threading.Lock()
        self._lost, self._renewed = "", 0.0
        with files.locked(f"runs/run={run}", create=True) as locked:
            self.previous = read_lease(files, run)
            if self.previous is not None and self.previous.alive(times):
                raise _busy(self.previous, run)
            known = self.previous is not None and self.previous.wal == wal
            self._me = _this_process(wal if known else secrets.token_hex(8))
            self._write(self._me)
        if not locked:
            time.sleep(times.settle)
            winner = read_lease(files, run)
            if winner is None:
                self.lose(GONE)
                self.check()
            elif winner.nonce != self._me.nonce:
                raise _busy(winner, run)

    @property
    def wal(self) -> str:
        """Mark of the write-ahead file that belongs to the run's stored rows."""
        return self._me.wal

    def keep(self, last_seq: Callable[[], int]) -> None:
        """Renew the lease from now on, until it is released or lost."""

        def beat() -> None:
            while not self._end.wait(self._times.period):
                with suppress(StoreError):  # a store that refuses now may accept the next one
                    self.renew(last_seq())

        threading.Thread(target=beat, name=f"lease of {self._run}", daemon=True).start()

    def renew(self, seq: int) -> None:
        """Write a heartbeat, unless the lease is lost: a missing one is not made anew."""
        with self._guard, self._files.locked(f"runs/run={self._run}"):
            data = self._files.read(lease_path(self._run))
            holder = _holder(data)
            if data is None:
                self.lose(GONE)
            elif holder is not None and holder.nonce != self._me.nonce:
                self.lose(f"another driver took over (process {holder.pid} on {holder.host})")
            elif not self._end.is_set():
                self._write(replace(self._me, heartbeat=time.time(), seq=seq))

    def confirm(self, seq: int) -> None:
        """Fail if the lease is lost; renew it first if that was not done for long.

        A driver that slept has not been told yet that it was overtaken. The clock is the wall's:
        others may stand still while a machine sleeps.
        """
        if time.time() - self._renewed > self._times.expiry / 2:
            self.renew(seq)
        self.check()

    def lose(self, reason: str) -> None:
        """From now on this driver may write nothing; the first reason stays."""
        self._lost = self._lost or reason
        self._end.set()

    def check(self) -> None:
        """Fail if the lease is lost."""
        if self._lost:
            raise StoreError(
                f"run {self._run}: {self._lost}. This driver stops and writes nothing more."
            )

    def release(self, *, clean: bool) -> None:
        """Let others drive the run; after a clean end nothing of the lease remains."""
        self._end.set()
        with self._guard, self._files.locked(f"runs/run={self._run}"):
            holder = read_lease(self._files, self._run)
            if self._lost or holder is None or holder.nonce != self._me.nonce:
                return
            if clean:
                self._files.delete(lease_path(self._run))
            else:
                self._write(replace(self._me, released=True))

    def _write(self, holder: Holder) -> None:
        data = json.dumps(to_stored(holder)).encode()
        self._files.write(lease_path(self._run), data, sync=False)
        self._renewed = holder.heartbeat


def _holder(data: bytes | None) -> Holder | None:
    try:
        return from_stored(Holder, json.loads(data)) if data else None
    except (ValueError, TypeError):
        return None  # a broken lease protects nobody


def _this_process(wal: str) -> Holder:
    return Holder(
        host=socket.gethostname(),
        pid=os.getpid(),
        born=_birth(os.getpid()),
        nonce=secrets.token_hex(8),
        wal=wal,
        heartbeat=time.time(),
    )


def _busy(holder: Holder, run: str) -> StoreError:
    return StoreError(
        f"run {run} has a driver at work: process {holder.pid} on {holder.host}, "
        f"last heard of {holder.age:.0f} s ago. Wait for its end, or stop it."
    )


def _runs(pid: int, born: str) -> bool:
    """Is it still the same process? Yes where that cannot be known."""
    if _namespace() != born.partition(" ")[0]:
        return True  # another container: its process numbers mean nothing here
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _birth(pid) == born


def _birth(pid: int) -> str:
    """The namespace of process numbers and the start of a process, where /proc tells them."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return f"{_namespace()} ?"
    if after_name[0] in "ZX":
        return "ended"  # nobody has asked for its exit code yet
    return f"{_namespace()} {after_name[19]}"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "?"
