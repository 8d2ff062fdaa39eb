"""Tables of a store as readers see them: Parquet files plus what is still ahead of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from clar_tune.errors import StoreError, UnknownName
from clar_tune.rows import FinalRow, RepeatRow, RunRow
from clar_tune.store.files import Files
from clar_tune.store.journal import Pending, read_wal, wal_path
from clar_tune.store.lease import read_lease
from clar_tune.store.parquet import Part, batches_of, doubled, facts_of, parts_of, read_part
from clar_tune.store.schema import (
    APPENDED,
    TRIAL,
    increasing,
    newest_trials,
    once,
    rows_of,
    schema_of,
    table_of,
)


def pending_rows(files: Files, run: str, only: str = "") -> Pending:
    """Rows that may not have reached Parquet yet, as far as this machine can see them."""
    mark, pending = read_wal(wal_path(files, run), only)
    if not pending or files.local:
        return pending
    lease = read_lease(files, run)
    return pending if lease is not None and lease.wal == mark else {}


def read_manifest(files: Files, run: str, parts: Sequence[Part] | None = None) -> RunRow | None:
    """The manifest of a run; none if there is no such run. Known ``parts`` are not listed."""
    pending = pending_rows(files, run, "runs").get("runs", [])
    if pending:  # a manifest that is ahead replaces the stored one, which need not be read
        parts = []
    elif parts is None:
        parts = parts_of(files, "runs", run)
    stored = [read_part(files, part) for part in parts]
    found = rows_of(RunRow, merged(stored, "runs", pending))
    return found[-1] if found else None


def read_table(
    files: Files, table: str, run: str, columns: Sequence[str] | None = None
) -> pa.Table:
    """Rows of one run in order of ``seq``, each once."""
    # The write-ahead file comes first: a row that leaves it meanwhile is then in Parquet.
    pending = pending_rows(files, run, table).get(table, [])
    names = _checked(table, columns)
    wanted = list(dict.fromkeys([*names, "seq", *(() if table in APPENDED else TRIAL)]))
    parts = parts_of(files, table, run)
    rows = merged([read_part(files, part, wanted) for part in parts], table, pending, wanted)
    if table in APPENDED and not increasing(rows["seq"]):
        wanted = list(dict.fromkeys([*wanted, "key"]))
        stored = [read_part(files, part, wanted) for part in parts]
        rows = once(merged(stored, table, pending, wanted))
    return rows.select(names)


def stream_table(files: Files, table: str, run: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Rows of a table that is only appended to, as ``read_table`` gives them, some at a time."""
    pending = pending_rows(files, run, table).get(table, [])
    wanted, last = list(dict.fromkeys([*columns, "seq"])), -1
    parts = parts_of(files, table, run)
    if doubled(files, {part: facts_of(files, part) for part in parts}):
        yield read_table(files, table, run, columns)
        return
    for part in parts:
        for rows in batches_of(files, part, wanted):
            last = rows["seq"][-1].as_py() if len(rows) else last
            yield rows.select(columns)
    ahead = table_of(table, [row for row in pending if row["seq"] > last])
    yield ahead.select(columns)


def merged(
    stored: Sequence[pa.Table],
    table: str,
    pending: Sequence[dict[str, Any]],
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Stored and pending rows of one run without doubles."""
    if table == "runs":
        newest = table_of(table, pending[-1:])
        return newest if pending else pa.concat_tables([*stored, newest])
    ahead = table_of(table, pending)
    ahead = ahead if columns is None else ahead.select(columns)
    if table not in APPENDED:
        return newest_trials(pa.concat_tables([*stored, ahead]))
    last = max((pc.max(rows["seq"]).as_py() for rows in stored if len(rows)), default=-1)
    return pa.concat_tables([*stored, ahead.filter(pc.greater(ahead["seq"], last))])


def with_key(files: Files, part: Part, prefix: str) -> pa.Table:
    """Rows of a part whose key begins with a text."""
    keys = read_part(files, part, ["key"])["key"]
    places = pc.indices_nonzero(pc.starts_with(keys, prefix))
    if not len(places):
        return schema_of(part.table).empty_table()
    return read_part(files, part).take(places)


def _checked(table: str, columns: Sequence[str] | None) -> list[str]:
    allowed = schema_of(table).names
    for name in columns or ():
        if name not in allowed:
            raise UnknownName(f"column of {table}", name, allowed)
    return allowed if columns is None else list(columns)


KEY_LENGTH = 16
_KINDS: dict[str, type[RepeatRow]] = {"repeats": RepeatRow, "finals": FinalRow}

Found = tuple[str, str, RepeatRow | FinalRow]


def find_key(
    files: Files, runs: Sequence[str], key: str, note: Callable[[StoreError], None]
) -> Found:
    """The run, table and row of the only key that begins so; of several runs the first."""
    found: list[Found] = []
    for run in runs:
        for table in _KINDS:
            found += [(run, table, row) for row in _rows(files, run, table, key, note)]
        if found and len(key) >= KEY_LENGTH:
            break
    keys = {row.key: None for _, _, row in found}
    if not key or not keys:
        asked = "SELECT run, graph, method, key FROM finals"
        raise StoreError(
            f'no row with key {key!r}. `clar-tune query "{asked}"` shows those of finals.'
        )
    if len(keys) > 1:
        some = ", ".join(list(keys)[:5])
        raise StoreError(f"key {key!r} is not unique: {some} … Write more of it.")
    return found[0]


def _rows(
    files: Files, run: str, table: str, key: str, note: Callable[[StoreError], None]
) -> list[RepeatRow]:
    ahead = [row for row in pending_rows(files, run, table).get(table, []) if _fits(row, key)]
    found = rows_of(_KINDS[table], table_of(table, ahead))
    for part in parts_of(files, table, run):
        try:
            found += rows_of(_KINDS[table], with_key(files, part, key))
        except StoreError as error:
            note(error)
    return found


def _fits(row: dict[str, str], key: str) -> bool:
    return row["key"].startswith(key)
