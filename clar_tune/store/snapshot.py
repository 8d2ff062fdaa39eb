"""One table of all runs at one moment, for a reader that wants the files themselves."""

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import dataset

from clar_tune.errors import StoreError
from clar_tune.store.files import Files
from clar_tune.store.lease import read_lease
from clar_tune.store.parquet import Facts, Part, doubled, facts_of, parts_in, read_part
from clar_tune.store.reader import merged, pending_rows
from clar_tune.store.schema import APPENDED, once, schema_of

Note = Callable[[StoreError], None]

_READERS = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Files that no longer change, and the rest in memory; ``run`` is the first column."""

    files: Files
    paths: list[str]
    """Files that have exactly the table's columns, as their filesystem names them."""
    rows: pa.Table

    def dataset(self) -> dataset.Dataset:
        """The files as one pyarrow dataset, for filesystems that only pyarrow can read."""
        schema = self.rows.schema
        runs = dataset.partitioning(pa.schema([schema.field("run")]), flavor="hive")
        return dataset.dataset(
            self.paths,
            schema=schema,
            filesystem=self.files.filesystem,
            format="parquet",
            partitioning=runs,
        )


def snapshot(files: Files, table: str, note: Note, *, empty: bool = False) -> Snapshot:
    """One table of all runs; what is damaged is noted and left out."""
    if empty:
        return Snapshot(files, [], _with_run(schema_of(table).empty_table(), ""))
    ahead = {run: _pending(files, table, run, note) for run in _live(files)}
    by_run: dict[str, dict[Part, Facts]] = {}
    for part, facts in _sound(files, table, note).items():
        by_run.setdefault(part.run, {})[part] = facts
    fixed: list[str] = []
    memory = [_with_run(schema_of(table).empty_table(), "")]
    for run in sorted(by_run.keys() | ahead.keys()):
        parts = by_run.get(run, {})
        moving = _moving(files, table, parts, driven=run in ahead)
        fixed += [files.full(part.path) for part in parts if part not in moving]
        stored = [rows for part in moving for rows in _read(files, part, note)]
        rows = merged(stored, table, ahead.get(run, []))
        memory.append(_with_run(once(rows) if table in APPENDED else rows, run))
    return Snapshot(files, fixed, pa.concat_tables(memory))


def _moving(
    files: Files, table: str, parts: Mapping[Part, Facts], *, driven: bool
) -> Collection[Part]:
    """Parts that are to be read now: a driver may replace them, or they need some work."""
    if (driven and table not in APPENDED) or (table in APPENDED and doubled(files, parts)):
        return parts
    last = [*parts][-1:] if driven else []
    return {part for part, facts in parts.items() if part in last or not facts.current}


def _live(files: Files) -> list[str]:
    """Runs that have, or may have, a driver."""
    paths = (
        path for path in files.under("runs") if path.endswith(("/_lease.json", "/_wal.jsonl"))
    )
    found = sorted({path.split("/")[1].removeprefix("run=") for path in paths})
    if files.local:
        return found

    def driven(run: str) -> bool:
        holder = read_lease(files, run)  # a bucket keeps the leases of runs that have ended
        return holder is None or not holder.released

    with ThreadPoolExecutor(_READERS) as readers:
        return [run for run, live in zip(found, readers.map(driven, found), strict=True) if live]


def _pending(files: Files, table: str, run: str, note: Note) -> list[dict[str, Any]]:
    try:
        return pending_rows(files, run, table).get(table, [])
    except StoreError as error:
        note(error)
        return []


def _sound(files: Files, table: str, note: Note) -> dict[Part, Facts]:
    """The parts that can be read, and what they tell."""

    def state(part: Part) -> Facts | None:
        try:
            return facts_of(files, part)
        except StoreError as error:
            note(error)
            return None

    parts = parts_in(files.under(table))
    with ThreadPoolExecutor(_READERS) as readers:
        states = zip(parts, readers.map(state, parts), strict=True)
        return {part: facts for part, facts in states if facts is not None}


def _read(files: Files, part: Part, note: Note) -> list[pa.Table]:
    try:
        return [read_part(files, part)]
    except StoreError as error:
        note(error)
        return []


def _with_run(rows: pa.Table, run: str) -> pa.Table:
    return rows.add_column(0, "run", pa.repeat(pa.scalar(run, pa.string()), len(rows)))
