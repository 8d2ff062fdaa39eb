"""The paper's form of a comparison: rows x methods, our number and the paper's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clar_tune.comparison import Comparison, Score
from clar_tune.formats import numbers
from clar_tune.formats.notes import labels, marks
from clar_tune.formats.texts import name

PAPER = "paper"
"""What the line with the paper's numbers is called."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands where a row and a method meet; empty where there are no finals."""

    mean: str = ""
    half: str = ""
    paper: str = ""
    marks: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the matrix."""

    label: str
    entries: tuple[Entry, ...]

    @property
    def has_paper(self) -> bool:
        """Whether the paper prints any number of this row."""
        return any(entry.paper for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows, with an entry for each method."""

    title: str
    methods: tuple[str, ...]
    lines: tuple[Line, ...]


def matrix_of(comparison: Comparison) -> Matrix:
    """A comparison in the paper's form."""
    scores = {(s.graph, s.condition, s.method): s for s in comparison.scores}
    lines = []
    for row, label in zip(comparison.rows, labels(comparison), strict=True):
        found = [scores.get((row.graph, row.condition, method)) for method in comparison.methods]
        entries = [Entry() if score is None else _entry(score, row.metric) for score in found]
        lines.append(Line(label, tuple(entries)))
    return Matrix(_title(comparison), tuple(map(name, comparison.methods)), tuple(lines))


def header(method: str, room: int) -> tuple[str, ...]:
    """A method's name in short lines: broken at dots and colons, and before its regularizer."""
    lines = [""]
    for piece in re.findall(r"\+?[^.:+]*[.:]?", method):
        for part in (piece[start : start + room] for start in range(0, len(piece), room)):
            if lines[-1] and (part.startswith("+") or len(lines[-1] + part) > room):
                lines.append("")
            lines[-1] += part
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


def _entry(score: Score, metric: str) -> Entry:
    return Entry(
        mean=numbers.score(score.mean, metric),
        half="" if score.half is None else numbers.size(score.half, metric),
        paper="" if score.paper is None else numbers.score(score.paper, metric),
        marks=marks(score),
        best=score.best,
    )


def _title(comparison: Comparison) -> str:
    metrics = dict.fromkeys(row.metric for row in comparison.rows)
    units = [f"{m} in %" if numbers.in_percent(m) else f"{m}, lower is better" for m in metrics]
    paper = any(score.paper is not None for score in comparison.scores)
    beside = "; below it the paper's number" if paper else ""
    return f"Test {'; '.join(units)}: mean ± half of the 95 % interval{beside}"
