"""The driver's side of a run: rows become durable at once and reach Parquet in good time."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from clar_tune.errors import StoreError
from clar_tune.rows import TABLES, FinalRow, RepeatRow, RunRow, TrialRow
from clar_tune.store.files import Files
from clar_tune.store.journal import Line, Pending, WriteAhead, read_wal, wal_path
from clar_tune.store.lease import Lease
from clar_tune.store.schema import check_row, plain, table_of
from clar_tune.store.stop_points import reach
from clar_tune.store.tables import Parts, written_table

FLUSH_ROWS = 10_000
"""Pending rows that are worth a flush at any time."""
LOCAL_PERIOD = 60.0
"""Seconds between flushes to a directory, where the write-ahead file can be read by all."""
REMOTE_PERIOD = 25.0
"""Seconds between flushes to anything else: rows arrive there within 30 s."""
SHARE = 0.05
"""Most of the driver's time that flushes to a directory may take."""
PATIENCE = 600.0
"""Seconds for which a store may refuse to be written before the run gives up."""
LAST_PATIENCE = 120.0
"""Seconds for which anything but a directory may refuse the last rows of a run."""
FIRST_RETRY, LAST_RETRY = 1.0, 30.0


class RunWriter:
    """A run open for writing, with its lease; made by ``Store.create`` and ``Store.reopen``."""

    def __init__(
        self, files: Files, name: str, row: RunRow, lease: Lease, *, new: bool = False
    ) -> None:
        self.name, self.row = name, row
        self.lost = 0
        """Rows that another machine stored but never brought here; they are to be redone."""
        self._files, self._lease = files, lease
        self._seq = lease.previous.seq if lease.previous else -1
        self._failures, self._failing_since = 0, 0.0
        lease.keep(lambda: self._seq)
        with lease.fenced():
            self._manifest, *parts = (
                Parts(files, lease.fence, table, name, lease.mark) for table in TABLES
            )
            # Also after a driver that let the run go: it may have failed amid its own claims.
            if lease.fence.claims and not new:
                for table in (self._manifest, *parts):
                    table.claim(lease.confirm)
            reach("after-claims", name)
            self._manifest.read(0)  # this state of it is replaced, and no other
            self._tables = {table.table: written_table(table) for table in parts}
            self._wal = WriteAhead(wal_path(files, name), lease.wal, lease.fence.folder)
            self._recover()
        self._rows: Pending = {}
        self._pending = 0
        self._flushed = time.monotonic()
        self._cost = 0.0

    def append(self, rows: Sequence[TrialRow | RepeatRow | FinalRow]) -> None:
        """Store rows under the next numbers; nothing loses them once this has returned."""
        self._check()
        lines = []
        for seq, row in enumerate(rows, self._seq + 1):
            table = _TABLE_OF[type(row)]
            lines.append((table, plain(table, row) | {"seq": seq}))
        self._write_ahead(lines)
        self._seq += len(lines)
        self._flush_if_due()

    def update(self, **changes: Any) -> None:
        """Change the run's manifest."""
        self._check()
        self._note(changes)
        self._attempt(self._write_manifest)

    def tick(self) -> None:
        """Flush if it is time; call it often."""
        self._check()
        self._flush_if_due()

    def flush(self) -> None:
        """Bring all pending rows into Parquet files now."""
        self._check_own()
        if self._pending:
            started = time.monotonic()
            with self._lease.fenced():
                self._fold(self._rows)
                self._rows, self._pending = {}, 0  # also if no new file can be begun
                self._check_own()
                self._wal.start()
            self._cost = time.monotonic() - started
        self._flushed, self._failures = time.monotonic(), 0

    def close(self, **changes: Any) -> None:
        """Flush, change the manifest a last time and let the run go."""
        try:
            self._check_own()
            if changes:
                self._note(changes)  # its file comes last: no run says finished before its rows
            self._flush_at_last()
        except BaseException:
            with suppress(StoreError):
                self._lease.release(clean=False)
            raise
        self._wal.remove()
        try:
            self._lease.release(clean=True)
        except StoreError:  # all is stored; a lease that stays ends by itself
            self._lease.check()

    def _note(self, changes: dict[str, Any]) -> None:
        """Make a change of the manifest durable, for the next flush."""
        row = replace(self.row, **changes)
        self._write_ahead([("runs", plain("runs", row))])
        self.row = row

    def _write_ahead(self, lines: Sequence[Line]) -> None:
        """Make rows durable, and be sure afterwards that whoever takes over has seen them."""
        for table, row in lines:
            check_row(table, row)  # a wrong type must fail here, not at every later flush
        self._wal.append(lines)
        self._check_own()
        for table, row in lines:
            self._rows.setdefault(table, []).append(row)
        self._pending += len(lines)

    def _flush_at_last(self) -> None:
        """Nothing comes after this flush: a store that refuses for a while is waited for.

        A directory that refuses is full or broken; its write-ahead file keeps the rows.
        """
        since = self._failing_since if self._failures else time.monotonic()
        while True:
            try:
                return self.flush()
            except StoreError:
                self._lease.check()
                if self._files.local or time.monotonic() - since > LAST_PATIENCE:
                    raise
            time.sleep(FIRST_RETRY)

    def _recover(self) -> None:
        """Rows of a driver that ended without a flush."""
        mark, pending = read_wal(self._wal.path)
        if self._files.local or mark == self._lease.wal:
            self._fold(pending)
        told, self._seq = self._seq, max(table.seq for table in self._tables.values())
        self.lost = max(0, told - self._seq)
        self._wal.start()

    def _fold(self, pending: Pending) -> None:
        for name, table in self._tables.items():
            table.add(pending.get(name, []))
            reach("between-tables", name)
        if manifests := pending.get("runs"):
            self._put_manifest(manifests[-1])

    def _write_manifest(self) -> None:
        with self._lease.fenced():
            self._put_manifest(plain("runs", self.row))

    def _put_manifest(self, row: dict[str, Any]) -> None:
        self._manifest.write(0, table_of("runs", [row]))

    def _check(self) -> None:
        self._check_own()
        if self._failures and time.monotonic() - self._failing_since > PATIENCE:
            self.flush()

    def _check_own(self) -> None:
        """Fail, now and ever after, if the run or its write-ahead file is no longer this one's."""
        if not self._wal.is_own():
            self._lose_file()
        self._lease.check()

    def _lose_file(self) -> None:
        with suppress(StoreError):
            self._lease.renew(self._seq)  # it knows the reason, if another driver is it
        if not self._lease.fence.folder.held():
            self._lease.lose(self._lease.reason())
        self._lease.lose(
            f"{self._wal.path} was removed or changed, and with it what was in no Parquet file "
            f"yet; `clar-tune resume {self.name}` trains that again"
        )
        self._lease.check()

    def _flush_if_due(self) -> None:
        waited = time.monotonic() - self._flushed
        if self._failures:
            due = waited > min(LAST_RETRY, FIRST_RETRY * 2**self._failures)
        elif self._files.local:
            due = waited > max(LOCAL_PERIOD, self._cost / SHARE)
        else:
            due = waited > REMOTE_PERIOD
        if self._pending and (due or (self._pending >= FLUSH_ROWS and not self._failures)):
            self._attempt(self.flush)

    def _attempt(self, write: Callable[[], None]) -> None:
        """A store may refuse for a while: the rows are safe in the write-ahead file."""
        try:
            write()
        except StoreError:
            self._lease.check()
            now = time.monotonic()
            self._failing_since = self._failing_since if self._failures else now
            self._failures += 1
            self._flushed = now
        else:
            self._failures = 0


_WITH_SEQ = ("trials", "repeats", "finals")
_TABLE_OF = {TABLES[name]: name for name in _WITH_SEQ}
