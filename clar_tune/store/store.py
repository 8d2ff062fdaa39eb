"""A store: the directory or bucket that holds all runs as Parquet."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from clar_tune.errors import StoreError, UnknownName
from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, RunRow, TrialRow
from clar_tune.store.addresses import resolve
from clar_tune.store.fence import Seen
from clar_tune.store.files import Files
from clar_tune.store.holder import CAREFUL, DEFAULT_TIMES, Access, LeaseTimes, free
from clar_tune.store.journal import read_wal, wal_path
from clar_tune.store.lease import Lease, fence_of, read_lease
from clar_tune.store.parquet import Part, encoded, numbered, parts_in
from clar_tune.store.reader import find_key, read_manifest, read_table, stream_table
from clar_tune.store.run_names import LATEST, check_name, is_name
from clar_tune.store.schema import plain, rows_of, table_of
from clar_tune.store.snapshot import Snapshot, snapshot
from clar_tune.store.writer import RunWriter

if TYPE_CHECKING:
    from clar_tune.store.objects import Objects

_MANIFEST = re.compile(r"runs/run=(?P<run>[a-z][a-z0-9-]*)/.+")
_READERS = 8


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run in a store: its name and its manifest."""

    name: str
    row: RunRow


class Store:
    """All runs in one place; opening it creates nothing."""

    def __init__(
        self,
        filesystem: Any,
        path: str,
        url: str | None = None,
        server: str = "",
        objects: "Callable[[], Objects] | None" = None,
        times: LeaseTimes = DEFAULT_TIMES,
        access: Access = CAREFUL,
    ) -> None:
        self.url = url or path
        self._files = Files(filesystem, path.rstrip("/") or path, self.url, server, objects)
        self._times, self._access = times, access
        self._silent: dict[str, Seen] = {}
        self._damaged: dict[str, None] = {}

    @staticmethod
    def open(
        url: str | os.PathLike[str], times: LeaseTimes | None = None, access: Access = CAREFUL
    ) -> "Store":
        """A store at a directory or at a URI that pyarrow knows (``s3://``, ``gs://`` …).

        ``times`` are those of its leases, by default what ``CLAR_TUNE_LEASE`` says; ``access``
        says how runs are taken that may have a driver.
        """
        return Store(*resolve(os.fspath(url)), times or LeaseTimes.of_environment(), access)

    def runs(self) -> list[StoredRun]:
        """All runs that can be read, the newest first; ``damaged`` names what cannot."""
        paths = self._files.under("runs")
        matches = (_MANIFEST.fullmatch(path) for path in paths)
        parts: dict[str, list[Part]] = {match["run"]: [] for match in matches if match}
        for part in parts_in(paths):
            parts[part.run].append(part)
        with ThreadPoolExecutor(_READERS) as readers:
            found = list(filter(None, readers.map(self._readable, parts, parts.values())))
        return sorted(found, key=lambda run: (run.row.started, run.name), reverse=True)

    def damaged(self) -> list[str]:
        """What reading came across and left out, one line each."""
        return list(self._damaged)

    def find(self, text: str) -> StoredRun:
        """The run with this name, with a name that begins so, or the ``latest``."""
        if is_name(text):
            row = read_manifest(self._files, text)
            if row is not None:
                return StoredRun(text, row)
        runs = self.runs()
        if not runs:
            raise StoreError(f"store {self.url} has no runs. Start one with `clar-tune run`.")
        if text == LATEST:
            return runs[0]
        matching = [run for run in runs if text and run.name.startswith(text)]
        if not matching:
            raise UnknownName("run", text, [run.name for run in runs])
        if len(matching) > 1:
            names = ", ".join(run.name for run in matching)
            raise StoreError(f"run {text!r} is not unique: {names}. Write more of the name.")
        return matching[0]

    def create(self, name: str, row: RunRow) -> RunWriter:
        """Begin a run under a new name."""
        self.check_new(name)
        lease = self._lease(name)
        try:
            self._refuse_existing(name)
            data = encoded(table_of("runs", [plain("runs", row)]), lease.mark)
            with lease.fenced():
                lease.fence.write(numbered("runs", name, 0).path, data)
            return RunWriter(self._files, name, row, lease, new=True)
        except BaseException:
            with suppress(StoreError):
                lease.release(clean=True)
            raise

    def check_new(self, name: str) -> None:
        """Refuse a name that no new run can have."""
        check_name(name)
        self._refuse_existing(name)
        self.check_fence()

    def check_free(self, name: str) -> None:
        """Refuse a run on which a driver is at work; one that cannot be asked is waited for."""
        self.check_fence()
        fence = fence_of(self._files, name, self._times, self._access)
        self._silent[name] = free(
            fence.look, name, self._times, self._access, self._silent.get(name)
        )

    def check_fence(self) -> str:
        """Refuse a store that cannot keep out a driver that was overtaken; or say what does it."""
        fence_of(self._files, "", self._times, self._access)
        if self._files.local:
            return "by renames"
        if self._access.single_driver or self._files.objects is None:
            return "by nothing but the lease: --single-driver"
        from clar_tune.store.bucket_fence import check_conditions

        check_conditions(self._files, self._files.objects())
        return "by conditional writes (If-None-Match, If-Match)"

    def _lease(self, name: str, wal: str = "") -> Lease:
        known = self._silent.get(name)
        return Lease(self._files, name, wal, self._times, self._access, known)

    def reopen(self, name: str) -> RunWriter:
        """Go on with a run; what its last driver left unflushed is brought in."""
        name = self.find(name).name
        wal, _ = read_wal(wal_path(self._files, name), "runs")
        lease = self._lease(name, wal)
        try:
            row = read_manifest(self._files, name)
            if row is None:
                raise UnknownName("run", name, [run.name for run in self.runs()])
            return RunWriter(self._files, name, row, lease)
        except BaseException:
            with suppress(StoreError):
                lease.release(clean=False)
            raise

    def driven(self, run: StoredRun) -> bool:
        """Whether some driver seems to work on a run; nobody waits to be sure of it.

        A driver on another machine is judged by the clocks of both, which may differ.
        """
        holder = read_lease(self._files, run.name)
        return holder is not None and holder.seems_alive(self._times)

    def trials(self, run: str) -> list[TrialRow]:
        """One row per trial of a run, in order of their last change."""
        return rows_of(TrialRow, read_table(self._files, "trials", run))

    def finals(self, run: str) -> list[FinalRow]:
        """Finals of a run in order of arrival."""
        return rows_of(FinalRow, read_table(self._files, "finals", run))

    def repeat_scores(self, run: str) -> Iterator[RepeatScore]:
        """What decisions need of the repeats of a run, in order of arrival."""
        for rows in stream_table(self._files, "repeats", run, RepeatScore._fields):
            yield from map(RepeatScore._make, zip(*rows.to_pydict().values(), strict=True))

    def table(self, name: str, run: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A table of a run, or some columns of it, as stored and in order of arrival."""
        return read_table(self._files, name, run, columns)

    def find_key(
        self, key: str, run: str | None = None
    ) -> tuple[StoredRun, str, RepeatRow | FinalRow]:
        """The row whose key begins so, its run and its table; of several runs the newest."""
        runs = self.runs() if run is None else [self.find(run)]
        name, table, row = find_key(self._files, [run.name for run in runs], key, self._note)
        return next(run for run in runs if run.name == name), table, row

    def snapshot(self, table: str, *, empty: bool = False) -> Snapshot:
        """One table of all runs as it is now, or only its columns."""
        return snapshot(self._files, table, self._note, empty=empty)

    def _readable(self, name: str, parts: Sequence[Part]) -> StoredRun | None:
        try:
            row = read_manifest(self._files, name, parts)
        except StoreError as error:
            self._note(error)
            return None
        return None if row is None else StoredRun(name, row)

    def _note(self, error: StoreError) -> None:
        self._damaged[str(error)] = None

    def _refuse_existing(self, name: str) -> None:
        found = self._files.under(f"runs/run={name}")
        if any(path.endswith(".parquet") for path in found):
            raise StoreError(
                f"run {name!r} exists in {self.url}. Choose another --name, or `clar-tune resume`."
            )
