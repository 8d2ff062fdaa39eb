"""A driver as its lease tells others, and whether it may still be at work."""

import json
import math
import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from clar_tune.errors import StoreError
from clar_tune.records import from_stored, stored_as, to_stored
from clar_tune.store.fence import Seen
from clar_tune.store.processes import birth, boot, clock, runs

VARIABLE = "CLAR_TUNE_LEASE"
"""Where a user says ``period/expiry``, in seconds."""


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """How drivers that share a store hear of each other; it is the same for all of them."""

    period: float = 10.0
    """Seconds between two heartbeats."""
    expiry: float = 60.0
    """Seconds without a heartbeat after which a driver counts as gone."""
    settle: float = 2.0
    """Seconds until two drivers see each other's claim where nothing else keeps them apart."""

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

LOOK = 0.5
"""Seconds between two looks at a heartbeat, at most."""


@stored_as(
    *("host", "pid", "born", "nonce", "wal", "heartbeat", "seq", "released"),
    *("epoch", "boot", "clock"),
)
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
    """By the wall's clock, for people; no decision rests on it."""
    seq: int = -1
    """Number of its last row."""
    released: bool = False
    epoch: int = 0
    """How many drivers have taken the run over, this one included."""
    boot: str = ""
    """The start of its machine, and …"""
    clock: float = 0.0
    """… the heartbeat on the clock that runs since then."""

    @property
    def here(self) -> bool:
        """Does it tell the time by the same clock as this process?"""
        return bool(self.boot) and self.boot == boot()

    @property
    def age(self) -> float:
        """Seconds since the last heartbeat; of another machine, as far as clocks agree."""
        return max(0.0, clock() - self.clock if self.here else time.time() - self.heartbeat)

    @property
    def ended(self) -> bool:
        """Is it known to be gone?"""
        same = self.host == socket.gethostname()
        return self.released or (same and not runs(self.pid, self.born))

    def seems_alive(self, times: LeaseTimes) -> bool:
        """May this driver still be at work?

        A guess for those who only show it: for a driver on another machine it rests on the
        clocks of both. Who wants to take over watches the heartbeat instead.
        """
        return not self.ended and self.age <= times.expiry


def this_process(wal: str, epoch: int) -> Holder:
    """A lease for this process."""
    return Holder(
        host=socket.gethostname(),
        pid=os.getpid(),
        born=birth(os.getpid()),
        nonce=secrets.token_hex(8),
        wal=wal,
        heartbeat=time.time(),
        epoch=epoch,
        boot=boot(),
        clock=clock(),
    )


def holder_of(lease: bytes) -> Holder | None:
    """Who has written a lease; a broken one protects nobody."""
    try:
        return from_stored(Holder, json.loads(lease)) if lease else None
    except (ValueError, TypeError):
        return None


def written(holder: Holder) -> bytes:
    """A lease as it is stored."""
    return json.dumps(to_stored(holder)).encode()


def busy(holder: Holder, run: str, age: float) -> StoreError:
    """The error of a run that is driven."""
    return StoreError(
        f"run {run} has a driver at work: process {holder.pid} on {holder.host}, "
        f"last heard of {age:.0f} s ago. Wait for its end, or stop it."
    )


@dataclass(frozen=True, slots=True)
class Access:
    """How a driver comes to a run."""

    take_over: bool = False
    """Whether the user knows that the driver before is dead, so that nobody waits for it."""
    single_driver: bool = False
    """Whether the user vouches that there is one driver, where nothing else can ensure it."""
    say: Callable[[str], None] = lambda text: None
    """Told that it waits."""


CAREFUL = Access()


def free(
    look: Callable[[], Seen], run: str, times: LeaseTimes, access: Access, known: Seen | None
) -> Seen:
    """A run that nobody drives, as it was seen; fails and names the driver if one is at work.

    No two clocks are compared. The heartbeat of a driver since the same start of this machine is
    dated by the clock of both. Any other is watched on the own clock: if it changes there is a
    driver, if it does not change for as long as a lease lasts there is none. ``known`` was
    watched before, in vain.
    """
    seen = look()
    since, told = clock(), False
    while not (access.take_over or seen == known or _free(seen, run, times)):
        if not told:
            _tell(seen, run, times, access)
            told = True
        time.sleep(min(times.period / 2, LOOK))
        now = look()
        if now != seen and _same(now, seen):
            holder = holder_of(now.lease)
            assert holder is not None
            raise busy(holder, run, 0.0)
        if now != seen:
            seen, since = now, clock()
        elif clock() - since > times.expiry:
            break
    return seen


def _free(seen: Seen, run: str, times: LeaseTimes) -> bool:
    """Is it known that nobody is there? Fails if it is known that somebody is."""
    holder = holder_of(seen.lease)
    if holder is None:
        return bool(seen.lease) or not seen.owner
    if holder.ended:
        return True
    if seen.owner not in ("", holder.nonce):
        return False  # somebody is just taking the run, or died of it
    if holder.here:
        if holder.age <= times.expiry:
            raise busy(holder, run, holder.age)
        return True
    return False


def _same(now: Seen, seen: Seen) -> bool:
    """Have both looks met the same driver?"""
    one, other = holder_of(now.lease), holder_of(seen.lease)
    if one is None or other is None or one.nonce != other.nonce:
        return False
    return not one.released and now.owner == seen.owner


def _tell(seen: Seen, run: str, times: LeaseTimes, access: Access) -> None:
    holder = holder_of(seen.lease)
    who = f"process {holder.pid} on {holder.host}" if holder else "a driver that left no name"
    access.say(
        f"run {run} was left to {who}: waiting up to {times.expiry:.0f} s to see whether it is "
        "alive; --take-over if you know that it is dead"
    )
