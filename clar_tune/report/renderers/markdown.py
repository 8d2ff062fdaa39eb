"""Documents as Markdown with the tables of GitHub."""

import re
from collections.abc import Iterable, Iterator, Sequence

from clar_tune.report import blocks
from clar_tune.report.blocks import PRINT, Block, Cell, Document, Matrix, Table
from clar_tune.report.numbers import between

_SPECIAL = {
    **{character: f"\\{character}" for character in "\\`*_[]|~#"},
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "$": "&#36;",  # two of them would begin and end a formula
}


def rendered(documents: Sequence[Document]) -> str:
    """Documents one below the other, each under a heading."""
    blocks = (block for document in documents for block in document.shown_in(PRINT))
    return "\n".join(line for block in blocks for line in _block(block)) + "\n"


def escaped(text: str) -> str:
    """Text that shows as it is within a line."""
    return "".join(_SPECIAL.get(character, character) for character in text.strip())


def paragraph(text: str) -> str:
    """Text that shows as it is at the beginning of a line too, where lists might begin."""
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", escaped(text))


def _block(block: Block) -> Iterator[str]:
    """A block and the empty line below it."""
    match block:
        case blocks.Headline(text=text, about=about):
            yield from (f"# {paragraph(text)}", "")
            yield from (paragraph(about), "") if about else ()
        case blocks.Prose(sentences=sentences, title=""):
            yield from map(paragraph, sentences)
        case blocks.Prose(sentences=sentences, title=title):
            yield from (f"## {escaped(title)}", "")
            yield from (f"- {paragraph(text)}" for text in sentences)
            yield ""
        case Matrix():
            yield from _matrix(block)
        case Table():
            yield from (f"## {escaped(block.title)}", "")
            lines = [map(_cell, line.cells) for line in block.lines]
            yield from _table([escaped(c.title) for c in block.columns], block.heads, lines)
            yield from [paragraph(block.note), ""] if block.note else []
        case _:
            yield from (f"## {escaped(block.title)}", "", paragraph(block.text), "")


def _matrix(matrix: Matrix) -> Iterator[str]:
    yield from (f"## {escaped(matrix.title)}", "")
    lines: list[Iterable[str]] = []
    for row in matrix.rows:
        lines.append([escaped(row.heading.label), *map(_cell, row.cells)])
        for below in row.below_in(PRINT):
            lines.append([f"*{escaped(below.name)}*", *(cell.text for cell in below.cells)])
    yield from _table(["", *(escaped(column.label) for column in matrix.columns)], 1, lines)
    yield from (paragraph("; ".join(map(str, matrix.notes_in(PRINT)))), "") if matrix.notes else ()


def _cell(cell: Cell) -> str:
    text = escaped(cell.text + cell.signs)
    strong = cell.mark in blocks.STRONG
    return between(f"**{text}**" if strong else text, cell.half)


def _table(columns: Sequence[str], names: int, lines: Iterable[Iterable[str]]) -> Iterator[str]:
    rule = ["---"] * names + ["---:"] * (len(columns) - names)
    yield from (f"| {' | '.join(cells)} |" for cells in (columns, rule, *lines))
    yield ""
