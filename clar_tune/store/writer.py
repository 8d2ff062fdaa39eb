"""The driver's side of a run: rows become durable at once and reach Parquet in good time."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clar_tune.errors import StoreError
from clar_tune.rows import TABLES, FinalRow, RepeatRow, RunRow, TrialRow
from clar_tune.store.files import Files
from clar_tune.store.journal import Pending, WriteAhead, read_wal, wal_path
from clar_tune.store.lease import Lease
from clar_tune.store.parquet import Part, numbered, parts_of, read_part, write_part
from clar_tune.store.schema import APPENDED, newest_trials, plain, table_of

FLUSH_ROWS = 20_000
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

    def __init__(self, files: Files, name: str, row: RunRow, lease: Lease) -> None:
        self.name, self.row = name, row
        self.lost = 0
        """Rows that another machine stored but never brought here; they are to be redone."""
        self._files, self._lease = files, lease
        self._tables = {table: WrittenTable(files, table, name) for table in _WITH_SEQ}
        self._wal = WriteAhead(wal_path(files, name), lease.wal)
        self._recover()
        self._pending = 0
        self._flushed = time.monotonic()
        self._cost = 0.0
        self._failures, self._failing_since = 0, 0.0
        lease.keep(lambda: self._seq)

    def append(self, rows: Sequence[TrialRow | RepeatRow | FinalRow]) -> None:
        """Store rows under the next numbers; nothing loses them once this has returned."""
        self._check()
        lines = []
        for seq, row in enumerate(rows, self._seq + 1):
            table = _TABLE_OF[type(row)]
            lines.append((table, plain(table, row) | {"seq": seq}))
        _validate(lines)
        self._wal.append(lines)
        self._seq += len(lines)
        self._pending += len(lines)
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
        self._renew()
        if self._pending:
            started = time.monotonic()
            pending = read_wal(self._wal.path)[1]
            if sum(map(len, pending.values())) < self._pending:
                self._lose_file()  # the same file, from which somebody has cut lines
            self._fold(pending)
            self._pending = 0  # also if no new file can be begun
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
        with suppress(StoreError):  # all is stored; a lease that stays ends by itself
            self._lease.release(clean=True)

    def _note(self, changes: dict[str, Any]) -> None:
        """Make a change of the manifest durable, for the next flush."""
        row = replace(self.row, **changes)
        lines = [("runs", plain("runs", row))]
        _validate(lines)
        self._wal.append(lines)
        self.row = row
        self._pending += 1

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
        self._seq = self._stored_seq()
        self._renew()  # a driver may be stopped, and overtaken, while it opens a run
        if self._files.local or mark == self._lease.wal:
            self._fold(pending)
        self._seq = self._stored_seq()
        if self._lease.previous is not None:
            self.lost = max(0, self._lease.previous.seq - self._seq)
        self._renew()
        self._wal.start()

    def _stored_seq(self) -> int:
        return max(table.seq for table in self._tables.values())

    def _fold(self, pending: Pending) -> None:
        for name, table in self._tables.items():
            self._lease.confirm(self._seq)
            table.add(pending.get(name, []))
        if manifests := pending.get("runs"):
            self._lease.confirm(self._seq)
            self._put_manifest(manifests[-1])

    def _write_manifest(self) -> None:
        self._renew()
        self._put_manifest(plain("runs", self.row))

    def _put_manifest(self, row: dict[str, Any]) -> None:
        write_part(self._files, numbered("runs", self.name, 0), table_of("runs", [row]))

    def _check(self) -> None:
        self._check_own()
        if self._failures and time.monotonic() - self._failing_since > PATIENCE:
            self.flush()

    def _renew(self) -> None:
        """Fail if the lease is lost by now, which a driver that slept has not been told."""
        self._lease.renew(self._seq)
        self._lease.check()

    def _check_own(self) -> None:
        """Fail, now and ever after, if the run or its write-ahead file is no longer this one's."""
        if not self._wal.is_own():
            self._lose_file()
        self._lease.check()

    def _lose_file(self) -> None:
        with suppress(StoreError):
            self._lease.renew(self._seq)  # it knows the reason, if another driver is it
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


def _validate(lines: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """A row of a wrong type must fail here, not at every later flush."""
    for name in TABLES:
        rows = [row for table, row in lines if table == name]
        if rows:
            table_of(name, rows)


ROWS_PER_PART = 250_000


class WrittenTable:
    """One table of a run; ``seq`` is the largest number that its files hold."""

    def __init__(self, files: Files, name: str, run: str) -> None:
        self._files, self.name, self._run = files, name, run
        kept = [part for part in parts_of(files, name, run) if part.number is not None]
        self._last = (kept[-1].number or 0) if kept else 0
        self._rows, self.seq = _extent(files, kept[-1]) if kept else (0, -1)

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Bring rows into the files; those that the files hold already are left out."""
        fresh = [row for row in rows if row["seq"] > self.seq]
        if not fresh:
            return
        if self.name in APPENDED:
            self._append(table_of(self.name, fresh))
        else:
            self._write(0, newest_trials(self._with_stored(table_of(self.name, fresh))))

    def _append(self, fresh: pa.Table) -> None:
        """The last part is written anew until it is full: files stay few without a clean-up."""
        if self._rows >= ROWS_PER_PART:
            self._last, self._rows = self._last + 1, 0
        rows = self._with_stored(fresh)
        for start in range(0, rows.num_rows, ROWS_PER_PART):
            part = rows.slice(start, ROWS_PER_PART)
            self._write(self._last + (start > 0), part)

    def _with_stored(self, fresh: pa.Table) -> pa.Table:
        """Rows of the last part, then those that it lacks.

        It may hold some of them: a write that was reported as failed can have succeeded.
        """
        if not self._rows:
            return fresh
        stored = read_part(self._files, numbered(self.name, self._run, self._last))
        lacking = pc.greater(fresh["seq"], pc.max(stored["seq"]))
        return pa.concat_tables([stored, fresh.filter(lacking)])

    def _write(self, number: int, rows: pa.Table) -> None:
        write_part(self._files, numbered(self.name, self._run, number), rows)
        self._last, self._rows = number, rows.num_rows
        self.seq = pc.max(rows["seq"]).as_py()


def _extent(files: Files, part: Part) -> tuple[int, int]:
    """How many rows a part holds, and the largest of their numbers."""
    numbers = read_part(files, part, ["seq"])["seq"]
    return len(numbers), pc.max(numbers).as_py() if len(numbers) else -1
