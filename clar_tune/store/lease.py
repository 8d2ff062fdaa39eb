"""The lease of a run: one driver at a time, known by its heartbeat."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from clar_tune.errors import StoreError
from clar_tune.store.fence import DirectoryFence, Fence, PlainFence, Seen, lease_path
from clar_tune.store.files import Files
from clar_tune.store.holder import (
    CAREFUL,
    DEFAULT_TIMES,
    Access,
    Holder,
    LeaseTimes,
    free,
    holder_of,
    this_process,
    written,
)
from clar_tune.store.own_folder import Overtaken
from clar_tune.store.processes import clock
from clar_tune.store.stop_points import reach

GONE = (
    "its lease is gone: another driver took over and has ended, or the store was moved or removed"
)
"""Why a driver that finds no lease may not go on: it cannot know that the run is still its own."""


LAST_BEAT = 5.0
"""Seconds that a heartbeat under way is waited for in the end."""


def read_lease(files: Files, run: str) -> Holder | None:
    """Who drives a run, or drove it last without an orderly end."""
    return holder_of(files.read(lease_path(run)) or b"")


def fence_of(files: Files, run: str, times: LeaseTimes, access: Access) -> Fence:
    """What keeps former drivers out of a run."""
    if files.local:
        return DirectoryFence(files, run)
    if access.single_driver:
        return PlainFence(files, run, times.settle)
    if files.objects is None:
        raise StoreError(
            f"store {files.url}: this kind of store has no conditional writes, by which a driver "
            "that was overtaken is kept out. Use a directory, s3:// or gs://, or give "
            "--single-driver if no second driver will ever be started."
        )
    from clar_tune.store.bucket_fence import BucketFence

    return BucketFence(files, run, files.objects())


class Lease:
    """A lease held by this process; a thread renews it."""

    def __init__(
        self,
        files: Files,
        run: str,
        wal: str = "",
        times: LeaseTimes = DEFAULT_TIMES,
        access: Access = CAREFUL,
        known: Seen | None = None,
    ) -> None:
        """Take the lease, or fail and name the driver that has it.

        ``wal`` is the mark of the write-ahead file that lies here. It stays the run's own if
        the last driver wrote it; otherwise other rows have taken the place of its rows.
        ``known`` is a state of the run that was watched already, in vain.
        """
        self._files, self._run, self._times = files, run, times
        self._end, self._guard = threading.Event(), threading.Lock()
        self._beats: threading.Thread | None = None
        self._lost = ""
        self.fence = fence_of(files, run, times, access)
        while True:
            seen = free(self.fence.look, run, times, access, known)
            self.previous = holder_of(seen.lease)
            mine = self.previous is not None and self.previous.wal == wal
            epoch = self.previous.epoch + 1 if self.previous else 1
            self._me = this_process(wal if mine else secrets.token_hex(8), epoch)
            with self.fenced():
                if self.fence.take(seen, self._me.nonce, written(self._me)):
                    break
        reach("after-taking", run)

    @property
    def wal(self) -> str:
        """Mark of the write-ahead file that belongs to the run's stored rows."""
        return self._me.wal

    @property
    def mark(self) -> str:
        """What this driver writes into its files, so that no other's are equal to them."""
        return f"epoch {self._me.epoch}, driver {self._me.nonce}"

    def keep(self, last_seq: Callable[[], int]) -> None:
        """Renew the lease from now on, until it is released or lost."""

        def beat() -> None:
            while not self._end.wait(self._times.period):
                with suppress(StoreError):  # a store that refuses now may accept the next one
                    self.renew(last_seq())

        self._beats = threading.Thread(target=beat, name=f"lease of {self._run}", daemon=True)
        self._beats.start()

    def renew(self, seq: int) -> None:
        """Write a heartbeat, unless the lease is lost: a missing one is not made anew."""
        with self._guard:
            if self._end.is_set():
                return
            now = replace(self._me, heartbeat=time.time(), clock=clock(), seq=seq)
            try:
                self.fence.beat(written(now))
            except Overtaken:
                self.lose(self.reason())

    def confirm(self) -> None:
        """Fail if the run is another's by now."""
        with self._guard:  # not while a heartbeat is under way
            self.fence.confirm()

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """Within it, a write that another driver's makes impossible means that the run is lost."""
        self.check()
        try:
            yield
        except Overtaken:
            self.lose(self.reason())
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
        """Let others drive the run; fails if it is another's by now."""
        self._end.set()
        if self._beats is not None:  # a process that ends amid a request may be aborted
            self._beats.join(LAST_BEAT)
        with self._guard, self.fenced():
            self.fence.end(written(replace(self._me, released=True)), clean=clean)

    def reason(self) -> str:
        """Why the run is no longer this driver's, as far as the store tells."""
        try:
            holder = read_lease(self._files, self._run)
        except StoreError:
            return GONE
        if holder is None or (holder.released and holder.nonce != self._me.nonce):
            return GONE
        if holder.nonce == self._me.nonce:
            return "another driver took over"
        return f"another driver took over (process {holder.pid} on {holder.host})"
