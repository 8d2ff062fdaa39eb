"""The comparison as one table: graphs against methods, each cell with its story."""

from dataclasses import dataclass

from clar_tune.analysis import Comparison, Contrast, Row, Score, excerpt
from clar_tune.graphs import PROTOCOLS
from clar_tune.metric import metric_named
from clar_tune.report import words
from clar_tune.report.excerpts import COMPARE_HAS_ALL, left_out
from clar_tune.report.formats import numbers
from clar_tune.report.formats.notes import (
    AS_NL,
    BEST,
    NOT_FULL,
    USED_UP,
    WEIGHTLESS,
    footnotes,
    marks,
)
from clar_tune.report.formats.texts import name

MARKS = {"better": "▲", "worse": "▼", "undecided": "○", "none": ""}
"""Signs of verdicts, for eyes that do not tell colours apart."""
MOST_ROWS = 80
"""A comparison with more rows is an excerpt."""
EXPLAINED = (USED_UP, NOT_FULL, WEIGHTLESS, AS_NL)


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
    """Over the plain backbone; of errors, the ratio to its error."""
    mark: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Headings of both sides and the entries, line by line; none where nothing was run."""

    reading: str
    """What stands in an entry."""
    corner: str
    across: tuple[Heading, ...]
    down: tuple[Heading, ...]
    lines: tuple[tuple[Entry | None, ...], ...]
    footnotes: tuple[str, ...]
    """What the flags in it mean."""


def matrix_of(comparison: Comparison) -> Matrix:
    """Graphs against methods; the longer side goes down, which reads best on any screen."""
    rows = excerpt(comparison.rows, lambda row: row.graph, MOST_ROWS)
    graphs = [_graph(row) for row in rows]
    methods = [Heading(name(method), "", method=method) for method in comparison.methods]
    scores = {(s.graph, s.condition, s.method): s for s in comparison.scores}
    gains = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    lines = []
    for row in rows:
        places = [(row.graph, row.condition, method) for method in comparison.methods]
        lines.append([_entry(scores.get(at), gains.get(at), row.metric) for at in places])
    reading = _reading(comparison) + left_out(len(rows), len(comparison.rows), COMPARE_HAS_ALL)
    # Notes on graphs stand below their names.
    notes = tuple(note for note in footnotes(comparison) if note[0] in EXPLAINED)
    if len(graphs) >= len(methods):
        sides, corner = (methods, graphs), "graph"
    else:
        sides, corner = (graphs, methods), "method"
        lines = [list(line) for line in zip(*lines, strict=True)]
    across, down = map(tuple, sides)
    return Matrix(reading, corner, across, down, tuple(map(tuple, lines)), notes)


def _reading(comparison: Comparison) -> str:
    errors = any(not metric_named(row.metric).higher_is_better for row in comparison.rows)
    tested = any(PROTOCOLS[row.protocol].held_out for row in comparison.rows)
    parts = [f"Mean {'test' if tested else 'training'} score ± half of its 95 % interval."]
    if errors:
        parts.append("Errors: lower is better.")
    if any(not contrast.rival for contrast in comparison.contrasts):
        what = "error as a part of that of" if errors else "gain over"
        below = f"Below it the {what} the same backbone without the regularizer"
        printed = any(
            found is not None
            for found in (
                *(score.paper for score in comparison.scores),
                *(contrast.paper_ratio for contrast in comparison.contrasts),
            )
        )
        parts.append(f"{below}{', then the paper’s number' if printed else ''}.")
    return " ".join(parts)


def _graph(row: Row) -> Heading:
    notes = [row.condition, *row.notes, row.metric if row.metric != "accuracy" else ""]
    return Heading(name(row.graph), name(", ".join(filter(None, notes))), graph=row.graph)


def _entry(found: Score | None, contrast: Contrast | None, metric: str) -> Entry | None:
    if found is None:
        return None
    verdict = contrast.verdict if contrast else ""
    return Entry(
        graph=found.graph,
        method=found.method,
        score=words.score(found.mean, metric),
        half=words.size(found.half_width, metric),
        best=found.best,
        flags=marks(found).replace(BEST, ""),
        paper=_paper(found, contrast, metric),
        gain="" if contrast is None else _gain(contrast, metric),
        mark=MARKS.get(verdict, ""),
        verdict=verdict,
    )


def _gain(contrast: Contrast, metric: str) -> str:
    if contrast.ratio is None:
        return words.gain(contrast.gain, metric)
    return f"× {numbers.ratio(contrast.ratio)}"


def _paper(found: Score, contrast: Contrast | None, metric: str) -> str:
    """The paper's score, or its ratio to plain where only that compares."""
    if contrast is not None and contrast.paper_ratio is not None:
        return f"× {numbers.ratio(contrast.paper_ratio)}"
    return words.score(found.paper, metric)
