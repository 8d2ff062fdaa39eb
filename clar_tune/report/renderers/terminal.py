"""Documents for a terminal: tables of at most the given width, the conclusions at the end."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from typing import TypeVar

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from clar_tune.analysis import excerpt
from clar_tune.report import blocks
from clar_tune.report.blocks import PRINT, Block, Cell, Document, Matrix, Table
from clar_tune.report.numbers import between
from clar_tune.report.renderers.layout import header, side_by_side

T = TypeVar("T")

LONGEST = 60
"""Lines of a table that is shown whole."""
SHOWN = 5
"""Lines of every graph that stand for those of a longer one."""
WIDTH = 100
NARROWEST = 80
"""On a narrower page numbers would be cut off."""
HEADER_ROOM = 12
LABEL_ROOM = 30
"""Longer names of rows and methods are folded."""
LEAST_ROOM = 12
"""No name is folded to less; where numbers leave less, they go on below."""
STYLES = {"best": "bold", "better": "bold green", "worse": "bold red"}


def rendered(documents: Sequence[Document], width: int = WIDTH, *, styled: bool = False) -> str:
    """Documents one below the other; ``styled`` adds bold and colour for a terminal."""
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
    for document in documents:
        console.print(*_page(document, width), sep="\n")
    text = page.getvalue()
    # Trailing spaces only serve styles.
    return text if styled else "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _page(document: Document, width: int) -> Iterator[RenderableType]:
    """All blocks with an empty line between them; the answer comes first."""
    for place, block in enumerate(document.shown_in(PRINT)):
        yield from [Text()] if place else []
        yield from _block(block, width)


def _block(block: Block, width: int) -> Iterator[RenderableType]:
    match block:
        case blocks.Headline(text=text, about=about):
            yield Rule(characters="━", style="")
            yield Text(text, style="bold")
            yield from [Text(about, style="dim")] if about else []
        case blocks.Prose(sentences=sentences, title=""):
            yield from map(Text, sentences)
        case blocks.Prose(sentences=sentences, title=title, ident="conclusions"):
            shown = Text(title, style="bold")
            yield Panel(_bullets(sentences), title=shown, title_align="left", width=width)
        case blocks.Prose(sentences=sentences, title=title):
            yield Text(title, style="bold")
            yield _bullets(sentences)
        case Matrix():
            yield from _matrix(block, width)
        case Table():
            yield from _table(block, width)
        case _:
            yield Text(block.title, style="bold")
            yield Text(block.text)


def _matrix(matrix: Matrix, width: int) -> Iterator[RenderableType]:
    yield Text(matrix.title, style="bold")
    rows = _shortened(matrix.rows, lambda row: row.heading.graph or row.heading.label)
    heads = [header(column.label, HEADER_ROOM) for column in matrix.columns]
    signs = [max(len(row.cells[p].signs) for row in rows) for p in range(len(heads))]
    lines = [list(_stacked(row)) for row in rows]
    widths = [
        max(*map(cell_len, head), signs[p] + max(len(c[p].text) for own in lines for _, c in own))
        for p, head in enumerate(heads)
    ]
    label = max(cell_len(name) for own in lines for name, _ in own)
    room = width - min(label, LABEL_ROOM)
    gap = 2 if sum(2 + own for own in widths) <= room else 1
    for block in side_by_side([gap + own for own in widths], room):
        yield from [Text()] if block.start else []
        shown = _empty_table(gap)
        shown.add_column(overflow="fold", max_width=LABEL_ROOM)
        for place in block:
            shown.add_column(Text("\n".join(heads[place]), justify="right"), no_wrap=True)
        for own in lines:
            for number, (name, cells) in enumerate(own):
                texts = [_padded(cells[p], widths[p] - signs[p]) for p in block]
                if number < 2 or any(texts):
                    shown.add_row(Text(name), *texts, style="dim" if number > 1 else "")
            shown.add_section()
        yield shown
    yield from _excerpted(len(rows), len(matrix.rows))
    if matrix.notes:
        yield Text("\n" + "   ".join(map(str, matrix.notes_in(PRINT))), style="dim")


def _stacked(row: blocks.Row) -> Iterator[tuple[str, Sequence[Cell]]]:
    """The lines of a row: its numbers, half of their intervals, and what stands below."""
    yield row.heading.label, row.cells
    yield "", [Cell(text=f"±{cell.half}" if cell.half else "") for cell in row.cells]
    for below in row.below_in(PRINT):
        yield f"  {below.name}", [Cell(text=cell.text) for cell in below.cells]


def _padded(cell: Cell, width: int) -> Text:
    """Digits stand in line, whatever signs follow."""
    text = cell.text.rjust(width) + cell.signs if cell.text else ""
    return Text(text, style=STYLES.get(cell.mark, ""))


def _table(whole: Table, width: int) -> Iterator[RenderableType]:
    lines = _shortened(whole.lines, lambda line: line.graph or line.cells[0].text)
    yield Text(whole.title, style="bold")
    yield from _lines(replace(whole, lines=lines), width)
    yield from _excerpted(len(lines), len(whole.lines))
    yield from [Text(whole.note, style="dim")] if whole.note else []


def _shortened(lines: Sequence[T], graph_of: Callable[[T], str]) -> tuple[T, ...]:
    """All lines, or the first ones of each graph if they are too many."""
    return excerpt(lines, graph_of, LONGEST, SHOWN)[:LONGEST]


def _excerpted(shown: int, all_lines: int) -> Iterator[RenderableType]:
    if shown != all_lines:
        text = (
            f"Excerpt: {shown} of {all_lines} lines, the first of every graph. "
            "`--format csv`, `json`, `markdown` or `latex` has all."
        )
        yield Text(text, style="dim")


def _lines(table: Table, width: int) -> Iterator[RenderableType]:
    """One table, or several with the same names where the numbers do not fit side by side."""
    titles = [column.title for column in table.columns]
    texts = [titles, *(list(map(_text, line.cells)) for line in table.lines)]
    widths, words = (
        [max(map(length, column)) for column in zip(*texts, strict=True)]
        for length in (cell_len, _longest_word)
    )
    gap = 2 if sum(2 + own for own in widths) - 2 <= width else 1
    heads = list(zip(widths, words, strict=True))[: table.heads]
    whole = [min(own, max(word, LEAST_ROOM), LABEL_ROOM) for own, word in heads]
    folded = [min(own, LEAST_ROOM) for own, _ in heads]
    cuts = [
        (
            side_by_side([gap + own for own in widths[table.heads :]], width - _room(least, gap)),
            least,
        )
        for least in (whole, folded)
    ]
    # No word of a name is broken unless that spares a block.
    cut, least = min(cuts, key=lambda tried: len(tried[0]))
    for block in cut:
        yield from [Text()] if block.start else []
        shown = _empty_table(gap)
        for title, own in zip(titles, least, strict=False):
            shown.add_column(Text(title), overflow="fold", max_width=LABEL_ROOM, min_width=own)
        places = [table.heads + place for place in block]
        for place in places:
            shown.add_column(Text(titles[place]), justify="right", no_wrap=True)
        for number, line in enumerate(table.lines):
            follows = table.grouped and not table.starts_group(number)
            if table.grouped and not follows:
                shown.add_section()
            first = Cell() if follows else line.cells[0]
            cells = (first, *line.cells[1 : table.heads], *(line.cells[p] for p in places))
            shown.add_row(*(Text(_text(cell), style=STYLES.get(cell.mark, "")) for cell in cells))
        yield shown


def _room(names: Sequence[int], gap: int) -> int:
    """Of names side by side."""
    return sum(gap + own for own in names) - gap


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _text(cell: Cell) -> str:
    return between(cell.text + cell.signs, cell.half)


def _empty_table(gap: int) -> RichTable:
    """One space of the gap between columns is drawn by the box."""
    padding = (0, 0, 0, gap - 1)
    return RichTable(box=box.SIMPLE_HEAD, padding=padding, show_edge=False, pad_edge=False)


def _bullets(texts: Iterable[str]) -> RichTable:
    shown = RichTable.grid(padding=(0, 1, 0, 0))
    shown.add_column()
    shown.add_column(overflow="fold")
    for text in texts:
        shown.add_row("•", Text(text))
    return shown
