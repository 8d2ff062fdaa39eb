"""A comparison as Markdown with the tables of GitHub."""

import re
from collections.abc import Iterable, Iterator, Sequence

from clar_tune.analysis import Comparison
from clar_tune.report.formats.correlations import correlation_parts
from clar_tune.report.formats.matrix import Entry, Matrix, matrix_of
from clar_tune.report.formats.notes import footnotes
from clar_tune.report.formats.parts import Part, heading, parts_of, sentences, without_finals

STRONG = ("better", "worse")
_SPECIAL = {
    **{character: f"\\{character}" for character in "\\`*_[]|~#"},
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "$": "&#36;",  # two of them would begin and end a formula
}


def markdown(*comparisons: Comparison) -> str:
    """Comparisons one below the other, each under a heading."""
    return "\n".join(line for comparison in comparisons for line in _page(comparison)) + "\n"


def escaped(text: str) -> str:
    """Text that shows as it is within a line."""
    return "".join(_SPECIAL.get(character, character) for character in text.strip())


def paragraph(text: str) -> str:
    """Text that shows as it is at the beginning of a line too, where lists might begin."""
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", escaped(text))


def _page(comparison: Comparison) -> Iterator[str]:
    if not comparison.scores:
        yield paragraph(without_finals(comparison))
        return
    yield from (f"# {paragraph(heading(comparison))}", "")
    yield from ("## What can be concluded, and what cannot", "")
    yield from _bullets(comparison.conclusions)
    for part in correlation_parts(comparison):
        yield from _part(part)
    matrix = matrix_of(comparison)
    yield from (f"## {escaped(matrix.title)}", "")
    yield from _matrix(matrix)
    yield from (paragraph("; ".join(footnotes(comparison))), "")
    for part in parts_of(comparison):
        yield from _part(part)
    yield from ("## How to read it", "")
    yield from _bullets(comparison.caption)


def _bullets(texts: Iterable[str]) -> Iterator[str]:
    yield from (f"- {paragraph(text)}" for text in sentences(texts))
    yield ""


def _matrix(matrix: Matrix) -> Iterator[str]:
    columns = ["", *map(escaped, matrix.methods)]
    lines = []
    for line in matrix.lines:
        lines.append([escaped(line.label), *map(_entry, line.entries)])
        lines += [[f"*{title}*", *texts] for title, texts in line.extras]
    yield from _table(columns, 1, lines)


def _entry(entry: Entry) -> str:
    mean = entry.mean + escaped(entry.marks)
    half = f" ± {entry.half}" if entry.half else ""
    return (f"**{mean}**" if entry.best else mean) + half


def _part(part: Part) -> Iterator[str]:
    lines = [
        [f"**{cell}**" if cell in STRONG else escaped(cell) for cell in line]
        for line in part.lines
    ]
    yield from (f"## {escaped(part.title)}", "")
    yield from _table([escaped(column) for column in part.columns], part.names, lines)
    yield from [paragraph(part.note), ""] if part.note else []


def _table(columns: Sequence[str], names: int, lines: Iterable[Sequence[str]]) -> Iterator[str]:
    rule = ["---"] * names + ["---:"] * (len(columns) - names)
    yield from (f"| {' | '.join(cells)} |" for cells in (columns, rule, *lines))
    yield ""
