"""Columns that know how their cells are made: a table is a choice of them, applied to records."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from clar_tune.analysis import Budget, duration
from clar_tune.report.document import EVERYWHERE, Cell, Column, Line, Table
from clar_tune.report.texts import LONGEST_NAME, name, sentence

T = TypeVar("T")

LONG = 40
"""Characters from which a cell may break its line."""


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A column, and what of a record stands in it."""

    column: Column
    cell: Callable[[T], Cell]

    def named(self, title: str) -> "Field[T]":
        """The same under another title."""
        return replace(self, column=replace(self.column, title=title))


def words(title: str, value: Callable[[T], str], help: str = "") -> Field[T]:
    """A column of names."""
    return Field(Column(title, False, help), lambda record: text(value(record)))


def told(
    title: str, value: Callable[[T], Any], shown: Callable[[T], str], help: str = ""
) -> Field[T]:
    """A column of numbers with a text that the record decides."""
    return Field(Column(title, True, help), lambda record: Cell(value(record), shown(record)))


def number(
    title: str, value: Callable[[T], Any], shown: Callable[[Any], str], help: str = ""
) -> Field[T]:
    """A column of numbers."""
    return told(title, value, lambda record: shown(value(record)), help)


def count(title: str, value: Callable[[T], int | None], help: str = "") -> Field[T]:
    """A column of counts."""
    return number(title, value, lambda found: "" if found is None else f"{found:,}", help)


def spent(budget: Callable[[T], Budget]) -> tuple[Field[T], ...]:
    """What a method took."""
    return (
        count("trials", lambda r: budget(r).trials),
        count("failed", lambda r: budget(r).failed),
        count("repeats", lambda r: budget(r).repeats, "Trainings of the search"),
        count("finals", lambda r: budget(r).finals, "Trainings of the winner on fresh splits"),
        number(
            "time",
            lambda r: budget(r).seconds,
            duration,
            "Of the search and of the winner's finals",
        ),
    )


def text(value: str, mark: str = "") -> Cell:
    """A cell that is sorted by its text; a very long name is shortened."""
    look = mark or ("long" if len(value) > LONG else "")
    return Cell(value[:LONGEST_NAME] or None, name(value), look)


def listing(value: str, mark: str = "long") -> Cell:
    """A cell with several names and values; each is shortened, not what they are together."""
    return Cell(value[:LONGEST_NAME] or None, sentence(value), mark if value else "")


def table_of(
    ident: str,
    title: str,
    fields: Sequence[Field[T]],
    records: Iterable[T],
    *,
    heads: int = 1,
    note: str = "",
    grouped: bool = False,
    optional: Collection[str] | None = None,
    line: Callable[[T], dict[str, str]] = lambda record: {},
    all_in: str = "the store has all.",
    media: tuple[str, ...] = EVERYWHERE,
) -> Table:
    """A table without those columns in which nothing stands.

    ``optional`` names the only ones that may be left out; ``line`` gives graph, method and key
    of a record, by which its line is found.
    """
    lines = [Line(tuple(field.cell(r) for field in fields), **line(r)) for r in records]
    kept = [
        place
        for place, field in enumerate(fields)
        if (optional is not None and field.column.title not in optional)
        or any(line.cells[place].text for line in lines)
    ]
    return Table(
        ident=ident,
        title=title,
        columns=tuple(fields[place].column for place in kept),
        lines=tuple(replace(line, cells=tuple(line.cells[p] for p in kept)) for line in lines),
        heads=sum(place < heads for place in kept),
        note=note,
        grouped=grouped and len({line.cells[0] for line in lines}) < len(lines),
        all_in=all_in,
        media=media,
    )
