"""A comparison as a LaTeX document that compiles as it is; its tables can be cut out."""

from collections.abc import Iterable, Iterator, Sequence

from clar_tune.analysis import Comparison
from clar_tune.report.formats.correlations import correlation_parts
from clar_tune.report.formats.latex_text import escaped
from clar_tune.report.formats.matrix import Entry, Matrix, blocks, header, matrix_of
from clar_tune.report.formats.notes import footnotes
from clar_tune.report.formats.parts import Part, heading, parts_of, sentences, without_finals

STRONG = ("better", "worse")
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


def latex(*comparisons: Comparison) -> str:
    """One document with a section for each comparison."""
    body = "\n".join(line for comparison in comparisons for line in _page(comparison))
    return f"{PREAMBLE}{body}\n\\end{{document}}\n"


def _page(comparison: Comparison) -> Iterator[str]:
    if not comparison.scores:
        yield escaped(without_finals(comparison)) + r"\par"
        return
    yield rf"\section*{{{escaped(heading(comparison))}}}"
    yield r"\subsection*{What can be concluded, and what cannot}"
    yield from _items(comparison.conclusions)
    for part in correlation_parts(comparison):
        yield from _part(part)
    yield from _matrix(matrix_of(comparison))
    yield from _small("; ".join(footnotes(comparison)))
    for part in parts_of(comparison):
        yield from _part(part)
    yield r"\subsection*{How to read it}"
    yield from _items(comparison.caption)


def _items(texts: Iterable[str]) -> Iterator[str]:
    yield r"\begin{itemize}\raggedright"
    yield from (rf"\item {escaped(text)}" for text in sentences(texts))
    yield r"\end{itemize}"


def _small(text: str) -> Iterator[str]:
    if text:
        yield rf"{{\footnotesize\raggedright {escaped(text)}\par}}"


def _matrix(matrix: Matrix) -> Iterator[str]:
    heads = [header(method, HEADER_ROOM) for method in matrix.methods]
    label = min(max(len(line.label) for line in matrix.lines), LABEL_ROOM)
    widths = [
        GAP + max(map(len, (*head, *(_plain(line.entries[place]) for line in matrix.lines))))
        for place, head in enumerate(heads)
    ]
    for block in blocks(widths, ROOM - label):
        lines = []
        for line in matrix.lines:
            own = [line.entries[place] for place in block]
            lines.append([_name(line.label), *map(_entry, own)])
            for title, texts in line.extras:
                shown = (escaped(texts[place]) for place in block)
                lines.append([rf"\quad\textit{{{escaped(title)}}}", *shown])
            lines.append([])
        yield from _table(matrix.title, 1, _head_lines([heads[p] for p in block]), lines[:-1])


def _head_lines(heads: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Names of methods over several lines, the last of each just above the rule."""
    height = max(map(len, heads))
    padded = [("",) * (height - len(head)) + head for head in heads]
    return [["", *map(escaped, line)] for line in zip(*padded, strict=True)]


def _plain(entry: Entry) -> str:
    """As wide as an entry, roughly; marks reach into the gap."""
    return f"{entry.mean} + {entry.half}"


def _entry(entry: Entry) -> str:
    mean = rf"\textbf{{{escaped(entry.mean)}}}" if entry.best else escaped(entry.mean)
    half = rf" $\pm$ {escaped(entry.half)}" if entry.half else ""
    marks = rf"\rlap{{\textsuperscript{{{escaped(entry.marks)}}}}}" if entry.marks else ""
    return mean + half + marks


def _part(part: Part) -> Iterator[str]:
    lines: list[list[str]] = []
    for place, line in enumerate(part.lines):
        if part.grouped and place and part.starts_group(place):
            lines.append([])
        names = [_name(cell) for cell in line[: part.names]]
        lines.append([*names, *map(_value, line[part.names :])])
    yield from _table(part.title, part.names, [[escaped(name) for name in part.columns]], lines)
    yield from _small(part.note)


def _value(cell: str) -> str:
    return rf"\textbf{{{cell}}}" if cell in STRONG else escaped(cell)


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
