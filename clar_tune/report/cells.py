"""Tables as the page shows them: every cell is text, and what it is sorted by."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clar_tune.analysis import duration, excerpt
from clar_tune.report.excerpts import left_out
from clar_tune.report.formats.texts import LONGEST_NAME, name, sentence

Sorted = float | str | None

MOST_LINES = 400
"""Longer tables are excerpts."""
LONG = 40
"""Characters from which a cell may break its line."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``help`` says what it holds where its name does not."""

    name: str
    numeric: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    text: str
    order: Sorted = None
    """What it is sorted by; nothing sorts last."""
    mark: str = ""
    """How it looks: a name that the style sheet knows."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line; the filter shows and hides it by its graph and method."""

    cells: tuple[Cell, ...]
    graph: str = ""
    method: str = ""
    key: str = ""
    """Names the line, where something refers to it."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first ``heads`` cells of a line name it."""

    ident: str
    caption: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    heads: int = 1


def table(
    ident: str,
    caption: str,
    columns: Sequence[Column],
    lines: Iterable[Line],
    *,
    heads: int = 1,
    optional: Iterable[str] = ("condition",),
    all_in: str = "the store has all.",
) -> Table:
    """A table without the optional columns in which every cell is empty.

    ``all_in`` says where all lines are, if it is an excerpt.
    """
    every = list(lines)
    found = excerpt(every, lambda line: line.graph, MOST_LINES)
    empty = {
        index
        for index, column in enumerate(columns)
        if column.name in optional and all(not line.cells[index].text for line in found)
    }
    kept = [index for index in range(len(columns)) if index not in empty]
    return Table(
        ident=ident,
        caption=caption + left_out(len(found), len(every), all_in),
        columns=tuple(columns[index] for index in kept),
        lines=tuple(
            Line(tuple(line.cells[i] for i in kept), line.graph, line.method, line.key)
            for line in found
        ),
        heads=sum(index < heads for index in kept),
    )


def text(value: str, mark: str = "") -> Cell:
    """A cell that is sorted by its text; a very long name is shortened."""
    look = mark or ("long" if len(value) > LONG else "")
    return Cell(name(value), value[:LONGEST_NAME] or None, look)


def listing(value: str, mark: str = "long") -> Cell:
    """A cell with several names and values; each is shortened, not what they are together."""
    return Cell(sentence(value), value[:LONGEST_NAME] or None, mark if value else "")


def numeric(shown: str, value: float | None, mark: str = "") -> Cell:
    """A cell that is sorted by a number."""
    return Cell(shown, value, mark)


def whole(value: int) -> Cell:
    """A count."""
    return Cell(f"{value:,}", value)


def span(seconds: float) -> Cell:
    """A span of time."""
    return Cell(duration(seconds), seconds)
