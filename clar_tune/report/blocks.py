"""What is shown, in one form: a document of blocks, which renderers turn into every format.

Builders make blocks and know no format; renderers print blocks and know no comparison.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

PRINT, PAGE, DATA = "print", "page", "data"
"""Where a block is shown: in text, on the page, or in files for programs."""
EVERYWHERE = (PRINT, PAGE, DATA)
STRONG = ("best", "better", "worse")
"""Marks that are printed bold."""
SIGNS = {
    **{"better": "▲", "equal": "=", "undecided": "○", "worse": "▼"},
    **{"unused": "–", "floor": "⊥", "none": ""},
}
"""Of marks that are verdicts, for eyes that do not tell colours apart."""
Rows = tuple[Mapping[str, Any], ...]
"""The data behind a figure: equal keys in every row; numbers, texts and nones."""
Spec = Mapping[str, Any]


def mark_of(verdict: str) -> str:
    """How a cell with a verdict looks."""
    return "floor" if verdict == "at the floor" else verdict


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its value sorts and exports, its text is printed."""

    value: Any = None
    text: str = ""
    mark: str = ""
    """How it looks: a verdict, ``best``, or another name that the style sheet knows."""
    half: str = ""
    """Half of its interval, printed behind ``±``."""
    signs: str = ""
    """What must be known of it; the notes of a matrix tell what each means."""


@dataclass(frozen=True, slots=True)
class Headline:
    """What a document says, in one line."""

    text: str
    about: str = ""
    """Of what it says so: runs, space, settings."""
    media: tuple[str, ...] = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences: under a title they are a list, without one a paragraph."""

    sentences: tuple[str, ...]
    title: str = ""
    ident: str = ""
    """``conclusions`` or ``legend``, which have places of their own; empty for others."""
    media: tuple[str, ...] = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Column:
    """One column; ``help`` says what it holds where its title does not."""

    title: str
    numeric: bool = False
    help: str = ""
    name: str = ""
    """What programs call it; without one, the title with ``_`` for spaces."""
    media: tuple[str, ...] = EVERYWHERE
    """Where it is shown; what programs need and people do not is of ``DATA`` alone."""

    @property
    def key(self) -> str:
        """Its name in csv and JSON."""
        return self.name or self.title.replace(" ", "_")


@dataclass(frozen=True, slots=True)
class Line:
    """One line; the filter of the page shows and hides it by its graph and method."""

    cells: tuple[Cell, ...]
    graph: str = ""
    method: str = ""
    key: str = ""
    """Names the line, where something refers to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Lines under columns; the first ``heads`` cells of a line name it."""

    ident: str
    """What programs call it; unique in a document."""
    title: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    heads: int = 1
    note: str = ""
    """How to read it."""
    grouped: bool = False
    """Whether lines with the same first cell belong together."""
    all_in: str = "the store has all."
    """Where all lines are, if only some are shown."""
    media: tuple[str, ...] = EVERYWHERE

    def starts_group(self, place: int) -> bool:
        """Whether a line begins with another name than the one before it."""
        return not place or self.lines[place].cells[0] != self.lines[place - 1].cells[0]

    def keeping(self, places: Sequence[int]) -> "Table":
        """The same with some of its columns."""
        if len(places) == len(self.columns):
            return self
        lines = (replace(n, cells=tuple(n.cells[place] for place in places)) for n in self.lines)
        columns = tuple(self.columns[place] for place in places)
        heads = sum(place < self.heads for place in places)
        return replace(self, columns=columns, lines=tuple(lines), heads=heads)

    def records(self) -> Iterator[dict[str, Any]]:
        """The values of every line, by the names of columns."""
        keys = [column.key for column in self.columns]
        for line in self.lines:
            yield dict(zip(keys, (cell.value for cell in line.cells), strict=True))


@dataclass(frozen=True, slots=True)
class Heading:
    """The name of a row or of a column of a matrix."""

    label: str
    """In one piece, with the signs of its notes."""
    name: str = ""
    """Without condition and signs, where small print has room below it."""
    small: str = ""
    graph: str = ""
    method: str = ""


@dataclass(frozen=True, slots=True)
class Below:
    """More about every cell of a row, in a line of its own; of a ratio ``sign`` is ``×``."""

    name: str
    cells: tuple[Cell, ...]
    short: str = ""
    """Its name where it stands in the cell itself."""
    sign: str = ""
    media: tuple[str, ...] = EVERYWHERE


@dataclass(frozen=True, slots=True)
class Note:
    """What a sign means; a medium shows those signs that its notes explain."""

    sign: str
    meaning: str
    media: tuple[str, ...] = EVERYWHERE

    def __str__(self) -> str:
        return f"{self.sign} {self.meaning}"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a matrix, with a cell for each column; empty where there is nothing."""

    heading: Heading
    cells: tuple[Cell, ...]
    below: tuple[Below, ...] = ()

    def below_in(self, medium: str) -> list[Below]:
        """What a medium shows below the cells."""
        return [below for below in self.below if medium in below.media]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Rows against columns: a table whose cells are alike."""

    ident: str
    title: str
    sides: tuple[str, str]
    """What rows and columns are: ``graph`` and ``method``."""
    columns: tuple[Heading, ...]
    rows: tuple[Row, ...]
    reading: str = ""
    """What stands in a cell."""
    notes: tuple[Note, ...] = ()
    all_in: str = "the store has all."
    """Where all rows are, if only some are shown."""
    media: tuple[str, ...] = EVERYWHERE

    def notes_in(self, medium: str) -> list[Note]:
        """What a medium explains."""
        return [note for note in self.notes if medium in note.media]

    def as_table(self) -> Table:
        """One line per cell, as programs want it."""
        return Table(
            ident=self.ident,
            title=self.title,
            columns=tuple(map(Column, (*self.sides, "value"))),
            lines=tuple(
                Line((Cell(row.heading.label), Cell(column.label), cell))
                for row in self.rows
                for column, cell in zip(self.columns, row.cells, strict=True)
                if cell.text
            ),
            heads=2,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: what it shows in words, its data, and how to draw them."""

    name: str
    """File stem of ``[a-z0-9-]``, unique in a report: ``gains``, ``texas-gcn-clar-history``."""
    kind: str
    title: str
    text: str
    """What it shows and what it says, with the main numbers: caption and text alternative."""
    rows: Rows
    spec: Spec
    """Vega-Lite without data: its data are named ``rows``, its width is ``container``."""


Block = Headline | Prose | Table | Matrix | Figure


@dataclass(frozen=True, slots=True)
class Document:
    """All blocks in their order, and what they were made of."""

    blocks: tuple[Block, ...]
    stored: Mapping[str, Any] = field(default_factory=dict)
    """The records behind the blocks, as JSON has them."""
    flat: Table = Table(ident="", title="", columns=(), lines=())
    """The same in one table, as csv has them; its tables leave out ``DATA``."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """What every line of csv begins with, such as the names of runs."""
    ident: str = "comparisons"
    """What programs call documents of its kind."""

    def shown_in(self, medium: str) -> Iterator[Block]:
        """The blocks of a medium, without empty tables; figures are told where none is drawn."""
        for block in self.blocks:
            match block:
                case Table(lines=()) | Matrix(rows=()) if medium != DATA:
                    continue
                case Table(media=media, columns=columns) if medium in media:
                    yield block.keeping([p for p, c in enumerate(columns) if medium in c.media])
                case Headline() | Prose() | Matrix() if medium in block.media:
                    yield block
                case Figure():
                    yield block

    def data_tables(self) -> Iterator[Table]:
        """Tables for programs that ``stored`` and ``flat`` do not hold."""
        for block in self.shown_in(DATA):
            if isinstance(block, Matrix):
                yield block.as_table()
            elif isinstance(block, Table):
                yield block
