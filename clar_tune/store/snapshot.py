"""One table of all runs at one moment, for a reader that wants the files themselves."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import dataset

from clar_tune.errors import StoreError
from clar_tune.store.files import Files
from clar_tune.store.parquet import Part, check_part, parts_in, read_part
from clar_tune.store.reader import merged, pending_rows
from clar_tune.store.schema import schema_of

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
    sound = _sound(files, table, note)
    last = {part.run: part for part in sound}
    fixed: list[str] = []
    memory = [_with_run(schema_of(table).empty_table(), "")]
    moving: dict[str, list[pa.Table]] = {}
    for part, current in sound.items():
        # A driver at work may replace its last part at any time.
        moves = part.run in ahead and part == last[part.run]
        if current and not moves:
            fixed.append(files.full(part.path))
        elif moves:
            moving[part.run] = _read(files, part, note)
        else:
            memory += [_with_run(rows, part.run) for rows in _read(files, part, note)]
    for run, rows in ahead.items():
        memory.append(_with_run(merged(moving.get(run, []), table, rows), run))
    return Snapshot(files, fixed, pa.concat_tables(memory))


def _live(files: Files) -> list[str]:
    """Runs that have, or may have, a driver."""
    return sorted(
        {
            path.split("/")[1].removeprefix("run=")
            for path in files.under("runs")
            if path.endswith(("/_lease.json", "/_wal.jsonl"))
        }
    )


def _pending(files: Files, table: str, run: str, note: Note) -> list[dict[str, Any]]:
    try:
        return pending_rows(files, run, table).get(table, [])
    except StoreError as error:
        note(error)
        return []


def _sound(files: Files, table: str, note: Note) -> dict[Part, bool]:
    """The parts that can be read, and whether they have exactly today's columns."""

    def state(part: Part) -> bool | None:
        try:
            return check_part(files, part)
        except StoreError as error:
            note(error)
            return None

    parts = parts_in(files.under(table))
    with ThreadPoolExecutor(_READERS) as readers:
        states = zip(parts, readers.map(state, parts), strict=True)
        return {part: current for part, current in states if current is not None}


def _read(files: Files, part: Part, note: Note) -> list[pa.Table]:
    try:
        return [read_part(files, part)]
    except StoreError as error:
        note(error)
        return []


def _with_run(rows: pa.Table, run: str) -> pa.Table:
    return rows.add_column(0, "run", pa.repeat(pa.scalar(run, pa.string()), len(rows)))
