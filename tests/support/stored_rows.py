"""Rows for tests of the store: every column has a value, a test says only what matters.

And everything that a store's folder holds, to be compared.
"""

from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from clar_tune.rows import JSON, SORTED_JSON, FinalRow, RepeatRow, Row, RunRow, TrialRow

Kind = TypeVar("Kind", bound=Row)

NOON = datetime(2024, 5, 6, 12, 0, 0, 123456, tzinfo=UTC)
VALUES: dict[Any, Any] = {
    str: "text",
    float: 0.1,
    "int32": 7,
    "int64": 7,
    bool: False,
    bytes: b"\xb4\x00",
    datetime: NOON,
    JSON: ["text"],
    SORTED_JSON: {"name": "text"},
}


def row(kind: type[Kind], **given: Any) -> Kind:
    """A record of a kind; columns that are not given hold some value of their type."""
    hints = get_type_hints(kind, include_extras=True)
    values = {field.name: VALUES[_plain(hints[field.name])] for field in fields(kind)}
    return kind(**values | given)


def run_row(**given: Any) -> RunRow:
    return row(RunRow, **{"state": "running", "ended": None, **given})


def trial_row(trial: int, **given: Any) -> TrialRow:
    return row(TrialRow, trial=trial, **{"state": "running", "val_score": None, **given})


def repeat_row(number: int, **given: Any) -> RepeatRow:
    return row(RepeatRow, repeat=number, key=f"{number:016x}", **given)


def final_row(number: int, **given: Any) -> FinalRow:
    return row(FinalRow, repeat=number, key=f"f{number:015x}", **given)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: files with what they hold, folders with nothing."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def _plain(hint: Any) -> Any:
    """What a column holds: the mark of its type, or its type; that of one that may be none."""
    if type(None) in get_args(hint):
        hint = next(choice for choice in get_args(hint) if choice is not type(None))
    return next(iter(getattr(hint, "__metadata__", ())), hint)
