"""Rows as Arrow tables: the records of ``rows`` are the schema."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from clar_tune.errors import StoreError
from clar_tune.rows import TABLES, StudyColumns

APPENDED = ("repeats", "finals")
"""Tables whose rows never change once they are written."""

TRIAL = ("graph", "method", "condition", "search", "trial")
"""What names a trial in a run; the row with the largest ``seq`` is the current one."""

Row = TypeVar("Row", bound=StudyColumns)

_ARROW = {
    str: pa.string(),
    float: pa.float64(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    datetime: pa.timestamp("us", tz="UTC"),
}


@cache
def schema_of(table: str) -> pa.Schema:
    """One column per field of the table's record, null only where the field may be none."""
    hints = get_type_hints(TABLES[table], include_extras=True)
    return pa.schema([_column(field.name, hints[field.name]) for field in fields(TABLES[table])])


def table_of(table: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows, as they stand in the write-ahead file, as an Arrow table."""
    defaults = _defaults(table)
    columns = []
    for field in schema_of(table):
        values = _values(rows, field.name, defaults)
        try:
            if pa.types.is_timestamp(field.type):
                values = [value and datetime.fromisoformat(value) for value in values]
            columns.append(pa.array(values, field.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{table}, column {field.name}: {error}.") from error
        if columns[-1].null_count and not field.nullable:
            raise StoreError(f"{table}, column {field.name}: a value is needed.")
    return pa.table(columns, schema=schema_of(table))


def rows_of(kind: type[Row], table: pa.Table) -> list[Row]:
    """An Arrow table as records."""
    return [kind(**row) for row in table.to_pylist()]


def plain(table: str, row: StudyColumns) -> dict[str, Any]:
    """A record as JSON can hold it: times become text in UTC."""
    values = {name: getattr(row, name) for name in schema_of(table).names}
    for name, value in values.items():
        if isinstance(value, datetime):
            values[name] = value.astimezone(UTC).isoformat()
    return values


def conform(found: pa.Table, table: str, columns: Iterable[str], file: str) -> pa.Table:
    """What a file holds, in today's columns; those added since are filled with their default."""
    defaults, arrays, kept = _defaults(table), [], []
    for name in columns:
        field = schema_of(table).field(name)
        if name in found.column_names:
            arrays.append(_cast(found.column(name), field, file))
        else:
            if name not in defaults:
                raise damaged(file, f"it has no column {name!r}")
            arrays.append(pa.array([defaults[name]] * found.num_rows, field.type))
        kept.append(field)
    return pa.table(arrays, schema=pa.schema(kept))


def newest_trials(found: pa.Table) -> pa.Table:
    """One row per trial, the last one written, in the order of writing."""
    newest = found.group_by(list(TRIAL)).aggregate([("seq", "max")])
    kept = pc.is_in(found["seq"], value_set=newest["seq_max"].combine_chunks())
    return found.filter(kept).sort_by("seq")


def damaged(file: str, reason: object) -> StoreError:
    """The error of a file that is not what the store wrote."""
    cause = str(reason).strip().splitlines()[0].rstrip(".") if str(reason).strip() else "no reason"
    return StoreError(f"{file} is damaged or foreign ({cause}). Move it out of the store.")


def _column(name: str, hint: Any) -> pa.Field:
    choices = get_args(hint)
    optional = NoneType in choices
    if optional:
        hint = next(choice for choice in choices if choice is not NoneType)
    kind = next(iter(getattr(hint, "__metadata__", ())), hint)
    return pa.field(name, _ARROW[kind], nullable=optional)


def _values(
    rows: Sequence[Mapping[str, Any]], name: str, defaults: Mapping[str, Any]
) -> list[Any]:
    try:
        return [row[name] for row in rows]
    except KeyError:  # rows of an older version
        return [row.get(name, defaults.get(name)) for row in rows]


@cache
def _defaults(table: str) -> dict[str, Any]:
    """Values of columns that a row may lack."""
    found: dict[str, Any] = {field.name: None for field in schema_of(table) if field.nullable}
    given = {field.name: field.default for field in fields(TABLES[table])}
    return found | {name: value for name, value in given.items() if value is not MISSING}


def _cast(column: pa.ChunkedArray, field: pa.Field, file: str) -> pa.ChunkedArray:
    try:
        cast = column.cast(field.type)
    except pa.ArrowException as error:
        raise damaged(file, f"column {field.name!r} is {column.type}") from error
    if cast.null_count and not field.nullable:
        raise damaged(file, f"column {field.name!r} has nulls")
    return cast
