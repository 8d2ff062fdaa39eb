"""Documents as one LaTeX file that compiles as it is; its tables can be cut out."""

from collections.abc import Iterable, Iterator, Sequence

from clar_tune.report import blocks
from clar_tune.report.blocks import PRINT, Block, Cell, Document, Matrix, Table
from clar_tune.report.renderers.latex_text import escaped
from clar_tune.report.renderers.layout import header, side_by_side

ROOM = 185
"""Characters that fit beside each other on the page."""
GAP = 2
HEADER_ROOM = 12
LABEL_ROOM = 36
PREAMBLE = r"""% Compiles as it is with pdflatex, twice for the widths of long tables.
% A table that is cut out needs booktabs and longtable.
\documentclass{article}
\usepackage[a4paper,landscape,margin=10mm]{geometry}
\usepackage{booktabs,longtable}
\setlength{\parindent}{0pt}
\renewcommand{\labelitemi}{$\bullet$}
\setlength{\LTcapwidth}{\linewidth}
\begin{document}
"""


def rendered(documents: Sequence[Document]) -> str:
    """One file with a section for each document."""
    shown = (block for document in documents for block in document.shown_in(PRINT))
    body = "\n".join(line for block in shown for line in _block(block))
    return f"{PREAMBLE}{body}\n\\end{{document}}\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case blocks.Headline(text=text, about=about):
            yield rf"\section*{{{escaped(text)}}}"
            yield from [escaped(about) + r"\par"] if about else []
        case blocks.Prose(sentences=sentences, title=""):
            yield from (escaped(text) + r"\par" for text in sentences)
        case blocks.Prose(sentences=sentences, title=title):
            yield rf"\subsection*{{{escaped(title)}}}"
            yield r"\begin{itemize}\raggedright"
            yield from (rf"\item {escaped(text)}" for text in sentences)
            yield r"\end{itemize}"
        case Matrix():
            yield from _matrix(block)
            yield from _small("; ".join(map(str, block.notes_in(PRINT))))
        case Table():
            heads = [[escaped(column.title) for column in block.columns]]
            yield from _table(block.title, block.heads, heads, list(_lines(block)))
            yield from _small(block.note)
        case _:
            yield rf"\subsection*{{{escaped(block.title)}}}"
            yield escaped(block.text) + r"\par"


def _small(text: str) -> Iterator[str]:
    if text:
        yield rf"{{\footnotesize\raggedright {escaped(text)}\par}}"


def _matrix(matrix: Matrix) -> Iterator[str]:
    heads = [header(column.label, HEADER_ROOM) for column in matrix.columns]
    label = min(max(len(row.heading.label) for row in matrix.rows), LABEL_ROOM)
    # As wide as cells, roughly: signs reach into the gap.
    texts = [[f"{cell.text} + {cell.half}" for cell in row.cells] for row in matrix.rows]
    columns = zip(heads, *texts, strict=True)
    widths = [GAP + max(map(len, (*head, *own))) for head, *own in columns]
    for block in side_by_side(widths, ROOM - label):
        lines: list[list[str]] = []
        for row in matrix.rows:
            lines += [[]] if lines else []
            lines.append([_name(row.heading.label), *(_value(row.cells[p]) for p in block)])
            for below in row.below_in(PRINT):
                shown = (escaped(below.cells[place].text) for place in block)
                lines.append([rf"\quad\textit{{{escaped(below.name)}}}", *shown])
        yield from _table(matrix.title, 1, _head_lines([heads[p] for p in block]), lines)


def _head_lines(heads: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Names of methods over several lines, the last of each just above the rule."""
    height = max(map(len, heads))
    padded = [("",) * (height - len(head)) + head for head in heads]
    return [["", *map(escaped, line)] for line in zip(*padded, strict=True)]


def _value(cell: Cell) -> str:
    text = escaped(cell.text)
    mean = rf"\textbf{{{text}}}" if cell.mark in blocks.STRONG else text
    half = rf" $\pm$ {escaped(cell.half)}" if cell.half else ""
    signs = rf"\rlap{{\textsuperscript{{{escaped(cell.signs)}}}}}" if cell.signs else ""
    return mean + half + signs


def _lines(table: Table) -> Iterator[list[str]]:
    for place, line in enumerate(table.lines):
        if table.grouped and place and table.starts_group(place):
            yield []
        names = [_name(cell.text) for cell in line.cells[: table.heads]]
        yield [*names, *map(_value, line.cells[table.heads :])]


def _name(text: str) -> str:
    """A name, in several lines if it is long."""
    if len(text) <= LABEL_ROOM:
        return escaped(text)
    lines = r"\\".join(map(escaped, header(text, LABEL_ROOM)))
    return rf"\shortstack[l]{{{lines}}}"


def _table(
    title: str, names: int, heads: Iterable[Sequence[str]], lines: Sequence[Sequence[str]]
) -> Iterator[str]:
    """A table that may go over several pages; an empty line is a small space."""
    columns = max(map(len, lines))
    yield r"{\scriptsize\setlength{\tabcolsep}{4pt}"
    yield rf"\begin{{longtable}}{{{'l' * names}{'r' * (columns - names)}}}"
    yield rf"\caption{{{escaped(title)}}}\\"
    yield r"\toprule"
    yield from (" & ".join(head) + r" \\" for head in heads)
    yield r"\midrule"
    yield r"\endhead"
    yield r"\bottomrule"
    yield r"\endfoot"
    yield from (" & ".join(line) + r" \\" if line else r"\addlinespace" for line in lines)
    yield r"\end{longtable}}"
