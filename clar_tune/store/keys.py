"""One stored training, found by the beginning of its key."""

from collections.abc import Callable, Sequence

from clar_tune.errors import StoreError
from clar_tune.rows import FinalRow, RepeatRow
from clar_tune.store.files import Files
from clar_tune.store.parquet import parts_of
from clar_tune.store.reader import pending_rows, with_key
from clar_tune.store.schema import rows_of, table_of

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
