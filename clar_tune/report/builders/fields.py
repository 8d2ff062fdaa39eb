"""Columns that know how their cells are made: a table is a choice of them, applied to records."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from clar_tune.analysis import Budget, duration
from clar_tune.report.blocks import DATA, EVERYWHERE, Cell, Column, Line, Table
from clar_tune.report.texts import name, sentence

T = TypeVar("T")

LONG = 40
"""Characters from which a cell may break its line."""


@dataclass(frozen=True, slots=True)
class Field(Generic[T]):
    """A column, and what of a record stands in it."""

    column: Column
    cell: Callable[[T], Cell]

    def but(self, **changes: Any) -> "Field[T]":
        """The same with another title, help, name or media."""
        return replace(self, column=replace(self.column, **changes))


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
    helps: Mapping[str, str] = MappingProxyType({}),
    optional: Collection[str] | None = None,
    line: Callable[[T], dict[str, str]] | None = None,
    grouped: bool = False,
    all_in: str = "the store has all.",
    media: tuple[str, ...] = EVERYWHERE,
) -> Table:
    """A table without those columns in which nothing stands.

    ``helps`` says what columns hold; ``optional`` names the only ones that may be left out;
    ``line`` tells graph, method and key of a line where its columns do not.
    """
    columns = [replace(f.column, help=helps.get(f.column.title, f.column.help)) for f in fields]
    lines = []
    for record in records:
        cells = tuple(field.cell(record) for field in fields)
        known = {column.title: cell.value for column, cell in zip(columns, cells, strict=True)}
        place = {side: known.get(side) or "" for side in ("graph", "method")}
        lines.append(Line(cells, **(line(record) if line else place)))
    whole = Table(
        ident=ident,
        title=title,
        columns=tuple(columns),
        lines=tuple(lines),
        heads=heads,
        note=note,
        grouped=grouped and len({line.cells[0].text for line in lines}) < len(lines),
        all_in=all_in,
        media=media,
    )
    needed = [optional is not None and column.title not in optional for column in columns]
    filled = [any(_is_told(c, n.cells[p]) for n in lines) for p, c in enumerate(columns)]
    return whole.keeping([p for p in range(len(columns)) if needed[p] or filled[p]])


def _is_told(column: Column, cell: Cell) -> bool:
    return cell.value is not None if column.media == (DATA,) else bool(cell.text)
