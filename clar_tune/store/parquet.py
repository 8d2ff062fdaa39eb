"""Parquet files of one table: their names, and reading and writing one of them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from clar_tune.store.files import FAILURES, Files
from clar_tune.store.schema import conform, damaged, increasing, present_columns, schema_of

ROWS_PER_GROUP = 1 << 16
"""Small enough that two cores share the reading of one file."""

ROWS_PER_BATCH = 1 << 14
"""Of a part that is read without being held whole."""

MARK = b"clar-tune"
"""What files say of their driver: those that say so hold every row once."""

_PATH = re.compile(r"(?P<table>\w+)/run=(?P<run>[a-z][a-z0-9-]*)/(?P<file>[^/._][^/]*\.parquet)")
_FILE = re.compile(r"part-(?P<number>\d{5,})\.parquet")
_ATTEMPTS = 3
_PLAIN = {"key", "seq", "started", "val_score", "val_loss", "test_score", "seconds"}
"""Columns whose values hardly repeat: a dictionary would only add to them."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a run's table."""

    table: str
    run: str
    file: str

    @property
    def path(self) -> str:
        """Where it lies in the store."""
        return f"{self.table}/run={self.run}/{self.file}"

    @property
    def number(self) -> int | None:
        """Its place in the table; none for a file that the store did not write."""
        match = _FILE.fullmatch(self.file)
        return int(match["number"]) if match else None


def numbered(table: str, run: str, number: int) -> Part:
    """The part of a table with a number, there already or not."""
    return Part(table, run, f"part-{number:05}.parquet")


def parts_in(paths: Iterable[str]) -> list[Part]:
    """The Parquet files among paths of a store, by run and number; all else is ignored."""
    matches = (_PATH.fullmatch(path) for path in paths)
    found = [Part(m["table"], m["run"], m["file"]) for m in matches if m]
    return sorted(found, key=lambda part: (part.run, part.number or 0, part.file))


def parts_of(files: Files, table: str, run: str) -> list[Part]:
    """The parts of one run's table, in order."""
    return parts_in(files.under(f"{table}/run={run}"))


def read_part(files: Files, part: Part, columns: Sequence[str] | None = None) -> pa.Table:
    """Rows of a part, in today's columns."""
    wanted = schema_of(part.table).names if columns is None else list(columns)
    shown = files.shown(part.path)
    if part.number is None:
        raise damaged(shown, "the store did not write it")
    file = _opened(files, part)
    present = present_columns(wanted, file.schema_arrow.names)
    try:
        found = file.read(columns=present)
    except FAILURES as error:
        raise damaged(shown, error) from error
    if not present:
        found = pa.table({"": pa.nulls(file.metadata.num_rows)})
    return conform(found, part.table, wanted, shown)


class Facts(NamedTuple):
    """What the end of a file tells about a part, without its rows."""

    current: bool
    """Does it have exactly today's columns?"""
    marked: bool
    """Was it written by a driver whose rows stand once in it?"""
    first: int | None
    """Its smallest ``seq``; none if it has no rows, or in the manifest."""
    last: int | None


def facts_of(files: Files, part: Part) -> Facts:
    """What the end of a file tells; an error if it is damaged or foreign."""
    shown, schema = files.shown(part.path), schema_of(part.table)
    if part.number is None:
        raise damaged(shown, "the store did not write it")
    path, filesystem = files.full(part.path), files.filesystem
    found = _patiently(files, part, lambda: pq.read_metadata(path, filesystem=filesystem))
    columns = found.schema.to_arrow_schema()
    conform(columns.empty_table(), part.table, schema.names, shown)
    current = all(
        name in columns.names and columns.field(name).type == schema.field(name).type
        for name in schema.names
    )
    bounds = [*_bounds(found)]
    first, last = min(bounds, default=None), max(bounds, default=None)
    return Facts(current, MARK in (found.metadata or {}), first, last)


def _bounds(found: pq.FileMetaData) -> Iterator[int]:
    """The smallest and the largest ``seq`` of each group of rows."""
    names = [found.schema.column(place).name for place in range(found.num_columns)]
    if "seq" not in names:
        return
    for group in range(found.num_row_groups):
        told = found.row_group(group).column(names.index("seq")).statistics
        if told is not None and told.has_min_max:
            yield from (told.min, told.max)


def doubled(files: Files, parts: Mapping[Part, Facts]) -> bool:
    """May a row stand twice in parts of a table that is only appended to?

    Parts of today's drivers never overlap; in one of an older driver the numbers are looked at.
    """
    last = -1
    for part, facts in parts.items():
        if facts.last is None or facts.first is None:
            continue
        if facts.first <= last:
            return True
        if not facts.marked and not increasing(read_part(files, part, ["seq"])["seq"]):
            return True
        last = facts.last
    return False


def batches_of(files: Files, part: Part, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Rows of a part, some at a time."""
    file = _opened(files, part)
    present = present_columns(columns, file.schema_arrow.names)
    for batch in file.iter_batches(ROWS_PER_BATCH, columns=present):
        rows = pa.Table.from_batches([batch])
        yield conform(rows, part.table, columns, files.shown(part.path))


def decoded(data: bytes, part: Part, shown: str) -> pa.Table:
    """Rows of a part that was read, in today's columns.

    Without Arrow's threads: one that lets go of Python's memory when Python is about to end
    aborts the process.
    """
    try:
        found = pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
    except FAILURES as error:
        raise damaged(shown, error) from error
    return conform(found, part.table, schema_of(part.table).names, shown)


def encoded(rows: pa.Table, mark: str = "") -> pa.Buffer:
    """A table as the bytes of a Parquet file, with a mark of the driver that writes it."""
    if mark:
        rows = rows.replace_schema_metadata({MARK: mark})
    sink = pa.BufferOutputStream()
    dictionaries = [name for name in rows.column_names if name not in _PLAIN]
    pq.write_table(
        rows,
        sink,
        row_group_size=ROWS_PER_GROUP,
        compression="zstd",
        use_dictionary=dictionaries,
    )
    return sink.getvalue()


def _opened(files: Files, part: Part) -> pq.ParquetFile:
    if files.local:
        return _patiently(files, part, lambda: pq.ParquetFile(files.full(part.path)))
    # In one reading: ranges of an object that is being replaced do not fit together.
    return _patiently(
        files, part, lambda: pq.ParquetFile(pa.BufferReader(files.read_buffer(part.path)))
    )


def _patiently(files: Files, part: Part, read: Callable[[], Any]) -> Any:
    """What is read; an object that is just being replaced gets a second chance."""
    for left in reversed(range(1 if files.local else _ATTEMPTS)):
        try:
            return read()
        except FAILURES as error:
            if not left:
                raise damaged(files.shown(part.path), error) from error
    return None
