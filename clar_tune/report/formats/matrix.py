"""The paper's form of a comparison: rows x methods, our number and the paper's."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clar_tune.analysis import Comparison, Contrast, Score
from clar_tune.graphs import PROTOCOLS
from clar_tune.report.formats import numbers
from clar_tune.report.formats.notes import labels, marks
from clar_tune.report.formats.texts import name

PAPER = "paper"
"""What the line with the paper's numbers is called."""
RATIO, PAPER_RATIO = "ratio to plain", "paper's ratio"
"""The same for errors, of which only ratios compare."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands where a row and a method meet; empty where there are no finals."""

    mean: str = ""
    half: str = ""
    ratio: str = ""
    paper: str = ""
    marks: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the matrix."""

    label: str
    graph: str
    entries: tuple[Entry, ...]

    @property
    def extras(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The lines below the means, by name: ratios of errors, the paper's numbers."""
        ratios = tuple(entry.ratio for entry in self.entries)
        papers = tuple(entry.paper for entry in self.entries)
        if any(ratios):
            yield RATIO, ratios
        if any(papers):
            yield PAPER_RATIO if any(ratios) else PAPER, papers


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows, with an entry for each method."""

    title: str
    methods: tuple[str, ...]
    lines: tuple[Line, ...]


def matrix_of(comparison: Comparison) -> Matrix:
    """A comparison in the paper's form."""
    scores = {(s.graph, s.condition, s.method): s for s in comparison.scores}
    gains = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    lines = []
    for row, label in zip(comparison.rows, labels(comparison), strict=True):
        places = [(row.graph, row.condition, method) for method in comparison.methods]
        entries = [_entry(scores.get(place), gains.get(place), row.metric) for place in places]
        lines.append(Line(label, row.graph, tuple(entries)))
    return Matrix(_title(comparison), tuple(map(name, comparison.methods)), tuple(lines))


def header(method: str, room: int) -> tuple[str, ...]:
    """A column's name in short lines.

    It is broken behind signs, and before its regularizer and its condition.
    """
    lines = [""]
    for piece in re.findall(r"[+ ]?[^.:=+ ]*[.:=]?", method):
        for part in (piece[start : start + room] for start in range(0, len(piece), room)):
            if lines[-1] and (part.startswith(("+", " ")) or len(lines[-1] + part) > room):
                lines.append("")
            lines[-1] += part.lstrip()
    return tuple(lines)


def blocks(widths: Sequence[int], room: int) -> list[range]:
    """Columns in as few blocks as possible, none wider than ``room``, of nearly equal size."""
    for size in range(len(widths), 0, -1):
        number = -(-len(widths) // size)
        even = -(-len(widths) // number)
        starts = range(0, len(widths), even)
        found = [range(start, min(start + even, len(widths))) for start in starts]
        if size == 1 or all(sum(widths[c] for c in block) <= room for block in found):
            return found
    return []


def _entry(score: Score | None, gain: Contrast | None, metric: str) -> Entry:
    if score is None:
        return Entry()
    paper = "" if score.paper is None else numbers.score(score.paper, metric)
    return Entry(
        mean=numbers.score(score.mean, metric),
        half="" if score.half_width is None else numbers.size(score.half_width, metric),
        ratio=numbers.ratio(gain.ratio) if gain else "",
        paper=numbers.ratio(gain.paper_ratio) if gain and gain.paper_ratio else paper,
        marks=marks(score),
        best=score.best,
    )


def _title(comparison: Comparison) -> str:
    metrics = dict.fromkeys(row.metric for row in comparison.rows)
    units = [f"{m} in %" if numbers.in_percent(m) else f"{m} (lower is better)" for m in metrics]
    tested = any(PROTOCOLS[row.protocol].held_out for row in comparison.rows)
    shown = f"{'Test' if tested else 'Training'} {'; '.join(units)}"
    return f"{shown}: mean ± half of the 95 % interval{_below(comparison)}"


def _below(comparison: Comparison) -> str:
    if any(contrast.ratio is not None for contrast in comparison.contrasts):
        return "; below it the ratio to the plain backbone"
    if any(score.paper is not None for score in comparison.scores):
        return "; below it the paper's number"
    return ""
