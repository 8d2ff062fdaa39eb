"""The comparison as one table: graphs against methods, each cell with its story."""

from dataclasses import dataclass

from clar_tune.comparison import Comparison, Row
from clar_tune.formats.notes import BEST, NOT_FULL, USED_UP, WEIGHTLESS, footnotes, marks
from clar_tune.formats.texts import name
from clar_tune.report import words

MARKS = {"better": "▲", "worse": "▼", "undecided": "○", "none": ""}
"""Signs of verdicts, for eyes that do not tell colours apart."""
EXPLAINED = (USED_UP, NOT_FULL, WEIGHTLESS)


@dataclass(frozen=True, slots=True)
class Heading:
    """A graph under a condition, or a method."""

    text: str
    notes: str
    graph: str = ""
    method: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One method on one graph."""

    graph: str
    method: str
    score: str
    half: str
    best: bool
    flags: str
    """Marks of what must be known of the score."""
    paper: str
    gain: str
    mark: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Headings of both sides and the entries, line by line; none where nothing was run."""

    corner: str
    across: tuple[Heading, ...]
    down: tuple[Heading, ...]
    lines: tuple[tuple[Entry | None, ...], ...]
    footnotes: tuple[str, ...]
    """What the flags in it mean."""


def matrix_of(comparison: Comparison) -> Matrix:
    """Graphs against methods; the longer side goes down, which reads best on any screen."""
    graphs = [_graph(row) for row in comparison.rows]
    methods = [Heading(name(method), "", method=method) for method in comparison.methods]
    lines = [
        [_entry(comparison, row, method) for method in comparison.methods]
        for row in comparison.rows
    ]
    # Notes on graphs stand below their names.
    notes = tuple(note for note in footnotes(comparison) if note[0] in EXPLAINED)
    if len(graphs) >= len(methods):
        return _matrix("graph", methods, graphs, lines, notes)
    turned = [list(line) for line in zip(*lines, strict=True)]
    return _matrix("method", graphs, methods, turned, notes)


def _matrix(
    corner: str,
    across: list[Heading],
    down: list[Heading],
    lines: list[list[Entry | None]],
    notes: tuple[str, ...],
) -> Matrix:
    return Matrix(corner, tuple(across), tuple(down), tuple(map(tuple, lines)), notes)


def _graph(row: Row) -> Heading:
    notes = [row.condition, *row.notes, row.metric if row.metric != "accuracy" else ""]
    return Heading(name(row.graph), name(", ".join(filter(None, notes))), graph=row.graph)


def _entry(comparison: Comparison, row: Row, method: str) -> Entry | None:
    found = comparison.score(row, method)
    if found is None:
        return None
    contrast = comparison.contrast(row, method)
    verdict = contrast.verdict if contrast else ""
    return Entry(
        graph=row.graph,
        method=method,
        score=words.score(found.mean, row.metric),
        half=words.size(found.half, row.metric),
        best=found.best,
        flags=marks(found).replace(BEST, ""),
        paper=words.score(found.paper, row.metric),
        gain="" if contrast is None else words.gain(contrast.gain, row.metric),
        mark=MARKS.get(verdict, ""),
        verdict=verdict,
    )
