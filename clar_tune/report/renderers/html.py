"""Documents as HTML: tables that the scripts of the page sort and filter."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from clar_tune.analysis import excerpt
from clar_tune.report.builders.notes import SIGNS
from clar_tune.report.document import (
    PAGE,
    Below,
    Cell,
    Document,
    Entry,
    Heading,
    Matrix,
    Row,
    Table,
)

FILES = Path(__file__).parents[1] / "files"
MOST_LINES, MOST_ROWS = 400, 80
"""A longer table, and a matrix with more rows, is an excerpt."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An entry of a matrix, with all that stands in it."""

    graph: str
    method: str
    entry: Entry
    signs: str
    below: tuple[tuple[Below, Cell], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix as it is laid out: headings of both sides and the entries, line by line."""

    ident: str
    reading: str
    corner: str
    across: tuple[Heading, ...]
    down: tuple[Heading, ...]
    lines: tuple[tuple[Shown | None, ...], ...]
    notes: tuple[str, ...]


def rendered(documents: Sequence[Document]) -> str:
    """All blocks as a part of some page; its style sheet and scripts are those of a report."""
    blocks = [block for document in documents for block in document.shown_in(PAGE)]
    return templates().get_template("document.html").render(blocks=blocks)


def laid_out(matrix: Matrix) -> Grid:
    """The longer side goes down, which reads best on any screen."""
    rows = excerpt(matrix.rows, lambda row: row.heading.graph, MOST_ROWS)
    all_in = "clar-tune compare --format csv prints all."
    notes = [note for note in matrix.notes if PAGE in note.media]
    known = {note.sign for note in notes}
    down, across = tuple(row.heading for row in rows), matrix.columns
    lines = [
        tuple(_shown(row, column, place, known) for place, column in enumerate(across))
        for row in rows
    ]
    turned = len(down) < len(across)
    return Grid(
        ident=matrix.ident,
        reading=(matrix.reading or matrix.title) + _left_out(len(rows), len(matrix.rows), all_in),
        corner=matrix.sides[turned],
        across=down if turned else across,
        down=across if turned else down,
        lines=tuple(zip(*lines, strict=True)) if turned else tuple(lines),
        notes=tuple(map(str, notes)),
    )


def _shown(row: Row, column: Heading, place: int, known: Collection[str]) -> Shown | None:
    entry = row.entries[place]
    if entry is None:
        return None
    cells = ((below, below.cells[place]) for below in row.below_in(PAGE))
    return Shown(
        graph=row.heading.graph,
        method=column.method,
        entry=entry,
        signs="".join(sign for sign in entry.signs if sign in known),
        below=tuple((below, cell) for below, cell in cells if cell.text),
    )


def excerpted(table: Table) -> Table:
    """A table as it is shown; its note tells how much of it that is."""
    lines = excerpt(table.lines, lambda line: line.graph, MOST_LINES)
    note = (table.note or table.title) + _left_out(len(lines), len(table.lines), table.all_in)
    return replace(table, lines=lines, note=note)


def _left_out(shown: int, all_lines: int, all_in: str) -> str:
    if shown == all_lines:
        return ""
    return f" Excerpt: {shown:,} of {all_lines:,} lines, the first of every graph; {all_in}"


@cache
def templates() -> Environment:
    """The templates of this package; whatever they show is escaped."""
    environment = Environment(
        loader=FileSystemLoader(FILES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(laid_out=laid_out, excerpted=excerpted, verdict_signs=SIGNS)
    environment.filters["kind"] = lambda block: type(block).__name__
    return environment
