"""Documents as HTML: tables that the scripts of the page sort and filter."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from clar_tune.analysis import excerpt
from clar_tune.report.blocks import PAGE, SIGNS, Cell, Document, Heading, Matrix, Note, Row, Table
from clar_tune.report.texts import LONGEST_NAME

FILES = Path(__file__).parents[1] / "files"
MOST_LINES, MOST_ROWS = 400, 80
"""A longer table, and a matrix with more rows, is an excerpt."""


class Grid(NamedTuple):
    """A matrix as it is laid out: the longer side goes down, which reads best on any screen."""

    reading: str
    corner: str
    across: tuple[Heading, ...]
    down: tuple[Heading, ...]
    lines: Sequence[Sequence[tuple[Row, int]]]
    """Where each cell stands: its row, and its place there."""
    notes: Sequence[Note]


def rendered(documents: Sequence[Document]) -> str:
    """All blocks as a part of some page; its style sheet and scripts are those of a report."""
    blocks = [block for document in documents for block in document.shown_in(PAGE)]
    return templates().get_template("document.html").render(blocks=blocks)


def laid_out(matrix: Matrix) -> Grid:
    """Some rows of every graph, if they are too many."""
    rows = excerpt(matrix.rows, lambda row: row.heading.graph, MOST_ROWS)
    reading = matrix.reading or matrix.title
    reading += _left_out(len(rows), len(matrix.rows), matrix.all_in)
    notes = matrix.notes_in(PAGE)
    headings, columns = tuple(row.heading for row in rows), matrix.columns
    lines = [[(row, place) for place in range(len(columns))] for row in rows]
    if len(headings) >= len(columns):
        return Grid(reading, matrix.sides[0], columns, headings, lines, notes)
    turned = list(zip(*lines, strict=True))
    return Grid(reading, matrix.sides[1], headings, columns, turned, notes)


def excerpted(table: Table) -> Table:
    """A table as it is shown; its note tells how much of it that is."""
    lines = excerpt(table.lines, lambda line: line.graph, MOST_LINES)
    note = (table.note or table.title) + _left_out(len(lines), len(table.lines), table.all_in)
    return replace(table, lines=lines, note=note)


def _left_out(shown: int, all_lines: int, all_in: str) -> str:
    if shown == all_lines:
        return ""
    return f" Excerpt: {shown:,} of {all_lines:,} lines, the first of every graph; {all_in}"


def _order(cell: Cell) -> Any:
    """What a cell is sorted by; the beginning of a very long name is enough."""
    return cell.value[:LONGEST_NAME] if isinstance(cell.value, str) else cell.value


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
    environment.filters.update(kind=lambda block: type(block).__name__, order=_order)
    return environment
