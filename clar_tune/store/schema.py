"""Rows as Arrow tables: the records of ``rows`` are the schema."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from clar_tune.errors import StoreError
from clar_tune.rows import JSON, SORTED_JSON, TABLES, USED_UP, Row

APPENDED = ("repeats", "finals")
"""Tables whose rows never change once they are written."""

TRIAL = ("graph", "method", "condition", "search", "trial")
"""What names a trial in a run; the row with the largest ``seq`` is the current one."""

Kind = TypeVar("Kind", bound=Row)

_DERIVED: dict[str, tuple[str, Callable[[str], Any]]] = {
    "used_up": ("notes", lambda notes: USED_UP in json.loads(notes)),
}
"""Columns that older files lack, each with the column that it can be told from, and how."""

_ARROW = {
    str: pa.string(),
    JSON: pa.string(),
    SORTED_JSON: pa.string(),
    bool: pa.bool_(),
    float: pa.float64(),
    bytes: pa.binary(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    datetime: pa.timestamp("us", tz="UTC"),
}


@cache
def schema_of(table: str) -> pa.Schema:
    """One column per field of the table's record, null only where the field may be none."""
    return pa.schema(
        [pa.field(name, _ARROW[kind], nullable=none) for name, (kind, none) in _kinds(table)]
    )


def table_of(table: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows, as they stand in the write-ahead file, as an Arrow table."""
    defaults = _defaults(table)
    columns = []
    for field in schema_of(table):
        values = _values(rows, field.name, defaults)
        try:
            if pa.types.is_timestamp(field.type):
                values = [value and datetime.fromisoformat(value) for value in values]
            if pa.types.is_binary(field.type):
                values = [v if v is None else b64decode(v, validate=True) for v in values]
            columns.append(pa.array(values, field.type))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise StoreError(f"{table}, column {field.name}: {error}.") from error
        if columns[-1].null_count and not field.nullable:
            raise StoreError(f"{table}, column {field.name}: a value is needed.")
    return pa.table(columns, schema=schema_of(table))


def check_row(table: str, row: Mapping[str, Any]) -> None:
    """Refuse a row that ``table_of`` would refuse, without making a table of it."""
    for name, types, low, high, none in _checks(table):
        value = row[name]
        if value is None:
            if not none:
                raise StoreError(f"{table}, column {name}: a value is needed.")
        elif type(value) not in types and (
            isinstance(value, bool) or not isinstance(value, types)
        ):
            raise StoreError(f"{table}, column {name}: {value!r:.80} has a wrong type.")
        elif high and not low <= value <= high:
            raise StoreError(f"{table}, column {name}: {value} is out of range.")


@cache
def _checks(table: str) -> tuple[tuple[str, tuple[type, ...], int, int, bool], ...]:
    """Of each column its name, what its values are in Python, their bounds, whether none is."""
    bits = {"int32": 31, "int64": 63}
    found = []
    for name, (kind, none) in _kinds(table):
        types = (int,) if kind in bits else (float, int) if kind is float else _PYTHON[kind]
        bound = 1 << bits[kind] if kind in bits else 0
        found.append((name, types, -bound, max(bound - 1, 0), none))
    return tuple(found)


_PYTHON: dict[Any, tuple[type, ...]] = {
    str: (str,),
    JSON: (str,),
    SORTED_JSON: (str,),
    bool: (bool,),
    datetime: (str,),
    bytes: (str,),
}


def rows_of(kind: type[Kind], found: pa.Table) -> list[Kind]:
    """An Arrow table as records, texts of JSON as what they hold."""
    table = next(name for name, record in TABLES.items() if record is kind)
    rows = found.to_pylist()
    for name in _json_columns(table):
        for row in rows:
            row[name] = _decoded(row[name], f"{table}, column {name}")
    if table == "trials":  # rows of older versions say it in a note as well
        for row in rows:
            row["notes"] = [note for note in row["notes"] if note != USED_UP]
    return [kind(**row) for row in rows]


def plain(table: str, row: Row) -> dict[str, Any]:
    """A record as the write-ahead file holds it: times, bytes and JSON become text."""
    names, others, get = _columns(table)
    values = dict(zip(names, get(row), strict=True))
    for name, ordered in _json_columns(table).items():
        if values[name] is not None:
            values[name] = (_sorted_json if ordered else _json)(values[name])
    for name in others:
        if isinstance(values[name], datetime):
            values[name] = values[name].astimezone(UTC).isoformat()
        elif isinstance(values[name], bytes):
            values[name] = b64encode(values[name]).decode()
    return values


_json, _sorted_json = json.JSONEncoder().encode, json.JSONEncoder(sort_keys=True).encode


@cache
def _columns(table: str) -> tuple[list[str], list[str], attrgetter]:  # type: ignore[type-arg]
    """The columns of a table, its times and bytes, and what takes all of them from a record."""
    names = schema_of(table).names
    others = [name for name, (kind, _) in _kinds(table) if kind in (datetime, bytes)]
    return names, others, attrgetter(*names)


def present_columns(wanted: Sequence[str], present: Collection[str]) -> list[str]:
    """Columns of a file that ``conform`` needs to give those that are wanted."""
    needed = (name if name in present else _DERIVED.get(name, ("",))[0] for name in wanted)
    return list(dict.fromkeys(name for name in needed if name in present))


def conform(found: pa.Table, table: str, columns: Iterable[str], file: str) -> pa.Table:
    """What a file holds, in today's columns; those added since are filled with their default."""
    defaults, arrays, kept = _defaults(table), [], []
    for name in columns:
        field = schema_of(table).field(name)
        if name in found.column_names:
            arrays.append(_cast(found.column(name), field, file))
        elif name in _DERIVED and _DERIVED[name][0] in found.column_names:
            source, derive = _DERIVED[name]
            arrays.append(pa.array(map(derive, found.column(source).to_pylist()), field.type))
        else:
            if name not in defaults:
                raise damaged(file, f"it has no column {name!r}")
            arrays.append(pa.array([defaults[name]] * found.num_rows, field.type))
        kept.append(field)
    return pa.table(arrays, schema=pa.schema(kept))


def newest_trials(found: pa.Table) -> pa.Table:
    """One row per trial, the last one written, in the order of writing."""
    return _of_each(found.sort_by("seq"), TRIAL, "max")


def increasing(numbers: pa.ChunkedArray) -> bool:
    """Is each number larger than the one before?"""
    return bool(pc.all(pc.greater(numbers[1:], numbers[:-1])).as_py() is not False)


def once(found: pa.Table) -> pa.Table:
    """Rows with each key once; two drivers of older versions could bring one in twice."""
    if increasing(found["seq"]):
        return found
    return _of_each(found.sort_by("seq"), ("key",), "min")


def _of_each(found: pa.Table, names: Sequence[str], which: str) -> pa.Table:
    """Of the rows that agree in some columns the first (``min``) or the last one (``max``)."""
    numbered = found.select(names).append_column("", pa.array(range(len(found)), pa.int64()))
    kept = numbered.group_by(list(names)).aggregate([("", which)])[f"_{which}"]
    if len(kept) == len(found):
        return found
    return found.filter(pc.is_in(numbered[""], value_set=kept.combine_chunks()))


def damaged(file: str, reason: object) -> StoreError:
    """The error of a file that is not what the store wrote."""
    cause = str(reason).strip().splitlines()[0].rstrip(".") if str(reason).strip() else "no reason"
    return StoreError(f"{file} is damaged or foreign ({cause}). Move it out of the store.")


@cache
def _kinds(table: str) -> tuple[tuple[str, tuple[Any, bool]], ...]:
    """Each column of a table with its kind, a key of ``_ARROW``, and whether it may be none."""
    hints = get_type_hints(TABLES[table], include_extras=True)
    return tuple((field.name, _kind(hints[field.name])) for field in fields(TABLES[table]))


def _kind(hint: Any) -> tuple[Any, bool]:
    choices = get_args(hint)
    optional = NoneType in choices
    if optional:
        hint = next(choice for choice in choices if choice is not NoneType)
    return next(iter(getattr(hint, "__metadata__", ())), hint), optional


@cache
def _json_columns(table: str) -> dict[str, bool]:
    """Columns that hold JSON, and whether its keys are sorted."""
    kinds = ((name, kind) for name, (kind, _) in _kinds(table))
    return {name: kind == SORTED_JSON for name, kind in kinds if kind in (JSON, SORTED_JSON)}


def _decoded(text: str | None, place: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise StoreError(f"{place}: {text[:80]!r} is no JSON ({error}).") from error


def _values(
    rows: Sequence[Mapping[str, Any]], name: str, defaults: Mapping[str, Any]
) -> list[Any]:
    try:
        return [row[name] for row in rows]
    except KeyError:  # rows of an older version
        if name in _DERIVED:
            source, derive = _DERIVED[name]
            return [row[name] if name in row else derive(row[source]) for row in rows]
        return [row.get(name, defaults.get(name)) for row in rows]


@cache
def _defaults(table: str) -> dict[str, Any]:
    """Values of columns that a row may lack."""
    found: dict[str, Any] = {field.name: None for field in schema_of(table) if field.nullable}
    given: dict[str, Any] = {}
    for field in fields(TABLES[table]):
        if field.default is not MISSING:
            given[field.name] = field.default
        elif field.default_factory is not MISSING:
            given[field.name] = field.default_factory()
    for name in _json_columns(table).keys() & given.keys():
        given[name] = None if given[name] is None else json.dumps(given[name])
    return found | given


def _cast(column: pa.ChunkedArray, field: pa.Field, file: str) -> pa.ChunkedArray:
    try:
        cast = column.cast(field.type)
    except pa.ArrowException as error:
        raise damaged(file, f"column {field.name!r} is {column.type}") from error
    if cast.null_count and not field.nullable:
        raise damaged(file, f"column {field.name!r} has nulls")
    return cast
