"""Columns that know how their cells are made: a table is a choice of them, applied to records."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from clar_tune.analysis import Budget, duration
from clar_tune.report.blocks import EVERYWHERE, Cell, Column, Line, Table
from clar_tune.report.texts import name, sentence

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

    def explained(self, help: Mapping[str, str]) -> Column:
        """The column with what is said of it, if anything is."""
        return replace(self.column, help=help.get(self.column.title, self.column.help))


def words(title: str, value: Callable[[T], str]) -> Field[T]:
    """A column of names."""
    return Field(Column(title), lambda record: text(value(record)))


def number(title: str, cell: Callable[[T], Cell], help: str = "") -> Field[T]:
    """A column of numbers."""
    return Field(Column(title, True, help), cell)


def count(title: str, value: Callable[[T], int | None], help: str = "") -> Field[T]:
    """A column of counts."""
    return number(title, lambda record: whole(value(record)), help)


def spent(budget: Callable[[T], Budget]) -> tuple[Field[T], ...]:
    """What a method took."""
    time = "Of the search and of the winner's finals"
    return (
        count("trials", lambda r: budget(r).trials),
        count("failed", lambda r: budget(r).failed),
        count("repeats", lambda r: budget(r).repeats, "Trainings of the search"),
        count("finals", lambda r: budget(r).finals, "Trainings of the winner on fresh splits"),
        number("time", lambda r: span(budget(r).seconds), time),
    )


def text(value: str, mark: str = "") -> Cell:
    """A name; the middle of a very long one is left out."""
    return Cell(value or None, name(value), mark or ("long" if len(value) > LONG else ""))


def listing(value: str, mark: str = "long") -> Cell:
    """Several names and values; each is shortened, not what they are together."""
    return Cell(value or None, sentence(value), mark if value else "")


def whole(value: int | None) -> Cell:
    """A count, or nothing."""
    return Cell(value, "" if value is None else f"{value:,}")


def span(seconds: float) -> Cell:
    """A span of time."""
    return Cell(seconds, duration(seconds))


def table_of(
    ident: str,
    title: str,
    fields: Sequence[Field[T]],
    records: Iterable[T],
    heads: int = 1,
    note: str = "",
    *,
    help: Mapping[str, str] | None = None,
    optional: Collection[str] | None = None,
    line: Callable[[T], dict[str, str]] | None = None,
    grouped: bool = False,
    all_in: str = "the store has all.",
    media: tuple[str, ...] = EVERYWHERE,
) -> Table:
    """A table without those columns in which nothing stands.

    ``help`` says what columns hold; ``optional`` names the only ones that may be left out;
    ``line`` tells graph, method and key of a line where its columns do not.
    """
    titles = [field.column.title for field in fields]
    lines = []
    for record in records:
        cells = tuple(field.cell(record) for field in fields)
        values = dict(zip(titles, (cell.value for cell in cells), strict=True))
        graph, method = values.get("graph") or "", values.get("method") or ""
        given = line(record) if line else {"graph": graph, "method": method}
        lines.append(Line(cells, **given))
    kept = [
        place
        for place, title in enumerate(titles)
        if (optional is not None and title not in optional)
        or any(line.cells[place].text for line in lines)
    ]
    return Table(
        ident=ident,
        title=title,
        columns=tuple(fields[place].explained(help or {}) for place in kept),
        lines=tuple(replace(line, cells=tuple(line.cells[p] for p in kept)) for line in lines),
        heads=sum(place < heads for place in kept),
        note=note,
        grouped=grouped and len({line.cells[0].text for line in lines}) < len(lines),
        all_in=all_in,
        media=media,
    )
