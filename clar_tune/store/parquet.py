"""Parquet files of one table: their names, and reading and writing one of them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clar_tune.store.files import FAILURES, Files
from clar_tune.store.schema import conform, damaged, present_columns, schema_of

ROWS_PER_GROUP = 1 << 16
"""Small enough that two cores share the reading of one file."""

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


def check_part(files: Files, part: Part) -> bool:
    """Does the part have exactly today's columns? An error if it is damaged or foreign."""
    shown, schema = files.shown(part.path), schema_of(part.table)
    if part.number is None:
        raise damaged(shown, "the store did not write it")
    path, filesystem = files.full(part.path), files.filesystem
    found = _patiently(files, part, lambda: pq.read_schema(path, filesystem=filesystem))
    conform(found.empty_table(), part.table, schema.names, shown)
    return all(
        name in found.names and found.field(name).type == schema.field(name).type
        for name in schema.names
    )


def write_part(files: Files, part: Part, rows: pa.Table) -> None:
    """Write a part, or replace it, at one stroke."""
    files.write(part.path, encoded(rows))


def encoded(rows: pa.Table) -> pa.Buffer:
    """A table as the bytes of a Parquet file."""
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
