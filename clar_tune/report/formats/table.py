"""A comparison for a terminal: tables of at most the given width, the conclusions at the end."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import StringIO
from typing import NamedTuple

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from clar_tune.analysis import Comparison
from clar_tune.report.formats.correlations import correlation_parts
from clar_tune.report.formats.excerpts import left_out, shortened
from clar_tune.report.formats.matrix import Entry, Matrix, blocks, header, matrix_of
from clar_tune.report.formats.notes import footnotes
from clar_tune.report.formats.parts import Part, heading, parts_of, sentences, without_finals

WIDTH = 100
NARROWEST = 80
"""On a narrower page numbers would be cut off."""
HEADER_ROOM = 12
LABEL_ROOM = 30
"""Longer names of rows and methods are folded."""
LEAST_ROOM = 12
"""No name is folded to less; where numbers leave less, they go on below."""
STYLES = {"better": "bold green", "worse": "bold red"}


def table(*comparisons: Comparison, width: int = WIDTH, styled: bool = False) -> str:
    """Comparisons one below the other; ``styled`` adds bold and colour for a terminal."""
    page, width = StringIO(), max(width, NARROWEST)
    console = Console(
        file=page,
        width=width,
        force_terminal=styled,
        force_jupyter=False,
        color_system="standard" if styled else None,
        highlight=False,
        legacy_windows=False,
    )
    for comparison in comparisons:
        console.print(*_page(comparison, width), sep="\n")
    text = page.getvalue()
    # Trailing spaces only serve styles.
    return text if styled else "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _page(comparison: Comparison, width: int) -> Iterator[RenderableType]:
    if not comparison.scores:
        yield Text(without_finals(comparison))
        return
    yield Rule(characters="━", style="")
    yield Text(heading(comparison) + "\n", style="bold")
    for part in correlation_parts(comparison):
        yield from _part(part, width)
        yield Text()
    yield from _matrix(matrix_of(comparison), width)
    yield Text("\n" + "   ".join(footnotes(comparison)), style="dim")
    for part in parts_of(comparison):
        yield Text()
        yield from _part(part, width)
    yield Text("\nHow to read it", style="bold")
    yield _bullets(sentences(comparison.caption))
    found = _bullets(sentences(comparison.conclusions))
    title = Text("What can be concluded, and what cannot", style="bold")
    yield Padding(Panel(found, title=title, title_align="left", width=width), (1, 0, 0, 0))


def _matrix(whole: Matrix, width: int) -> Iterator[RenderableType]:
    yield Text(whole.title, style="bold")
    matrix = replace(whole, lines=shortened(whole.lines, lambda line: line.graph))
    columns = [_column(matrix, place) for place in range(len(matrix.methods))]
    extras = (f"  {title}" for line in matrix.lines for title, _ in line.extras)
    label = max(map(cell_len, (*extras, *(line.label for line in matrix.lines))))
    room = width - min(label, LABEL_ROOM)
    gap = 2 if sum(2 + column.width for column in columns) <= room else 1
    for block in blocks([gap + column.width for column in columns], room):
        yield from [Text()] if block.start else []
        shown = _empty_table(gap)
        shown.add_column(overflow="fold", max_width=LABEL_ROOM)
        for place in block:
            shown.add_column(columns[place].head, no_wrap=True)
        for number, line in enumerate(matrix.lines):
            own = [columns[place].entries[number] for place in block]
            shown.add_row(Text(line.label), *(_mean(entry) for entry in own))
            shown.add_row("", *(Text(entry.half) for entry in own))
            for title, texts in replace(line, entries=tuple(own)).extras:
                shown.add_row(f"  {title}", *map(Text, texts), style="dim")
            shown.add_section()
        yield shown
    yield from _excerpted(len(matrix.lines), len(whole.lines))


class _Column(NamedTuple):
    """One method of the matrix, its numbers padded so that their digits stand in line."""

    head: Text
    entries: list[Entry]
    width: int


def _column(matrix: Matrix, place: int) -> _Column:
    found = [line.entries[place] for line in matrix.lines]
    head = header(matrix.methods[place], HEADER_ROOM)
    marks = max(len(entry.marks) for entry in found)
    texts = [text for e in found for text in (e.mean, f"±{e.half}", e.ratio, e.paper)]
    width = max(*map(cell_len, head), marks + max(map(len, texts)))
    entries = [
        replace(
            entry,
            mean=entry.mean.rjust(width - marks),
            half=f"±{entry.half}".rjust(width - marks) if entry.half else "",
            ratio=entry.ratio.rjust(width - marks) if entry.ratio else "",
            paper=entry.paper.rjust(width - marks) if entry.paper else "",
        )
        for entry in found
    ]
    return _Column(Text("\n".join(head), justify="right"), entries, width)


def _mean(entry: Entry) -> Text:
    return Text(entry.mean + entry.marks, style="bold" if entry.best else "")


def _part(whole: Part, width: int) -> Iterator[RenderableType]:
    part = replace(whole, lines=shortened(whole.lines, lambda line: line[0].partition(" (")[0]))
    yield Text(part.title, style="bold")
    yield from _lines(part, width)
    yield from _excerpted(len(part.lines), len(whole.lines))
    yield from [Text(part.note, style="dim")] if part.note else []


def _excerpted(shown: int, all_lines: int) -> Iterator[RenderableType]:
    text = left_out(shown, all_lines)
    yield from [Text(text, style="dim")] if text else []


def _lines(part: Part, width: int) -> Iterator[RenderableType]:
    """One table, or several with the same names where the numbers do not fit side by side."""
    widths = [
        max(cell_len(line[place]) for line in (part.columns, *part.lines))
        for place in range(len(part.columns))
    ]
    gap = 2 if sum(2 + own for own in widths) - 2 <= width else 1
    least = [min(own, LEAST_ROOM) for own in widths[: part.names]]
    room = width - sum(gap + own for own in least) + gap
    for block in blocks([gap + own for own in widths[part.names :]], room):
        yield from [Text()] if block.start else []
        shown = _empty_table(gap)
        for column, own in zip(part.columns, least, strict=False):
            shown.add_column(Text(column), overflow="fold", max_width=LABEL_ROOM, min_width=own)
        numbers = [part.names + place for place in block]
        for place in numbers:
            shown.add_column(Text(part.columns[place]), justify="right", no_wrap=True)
        for number, line in enumerate(part.lines):
            follows = part.grouped and not part.starts_group(number)
            if part.grouped and not follows:
                shown.add_section()
            names = ["", *line[1 : part.names]] if follows else line[: part.names]
            cells = (*names, *(line[place] for place in numbers))
            shown.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in cells))
        yield shown


def _empty_table(gap: int) -> Table:
    """One space of the gap between columns is drawn by the box."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 0, 0, gap - 1), show_edge=False, pad_edge=False)


def _bullets(texts: Iterable[str]) -> Table:
    shown = Table.grid(padding=(0, 1, 0, 0))
    shown.add_column()
    shown.add_column(overflow="fold")
    for text in texts:
        shown.add_row("•", Text(text))
    return shown
