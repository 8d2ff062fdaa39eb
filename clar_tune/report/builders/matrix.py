"""The paper's form of a comparison: rows x methods, our number and the paper's."""

from dataclasses import replace
from typing import NamedTuple

from clar_tune.analysis import (
    Comparison,
    Contrast,
    PenaltyEffect,
    Row as ComparedRow,
    Score,
)
from clar_tune.graphs import PROTOCOLS
from clar_tune.metric import metric_named
from clar_tune.report import numbers
from clar_tune.report.blocks import PAGE, PRINT, Below, Cell, Heading, Matrix, Row, mark_of
from clar_tune.report.builders.effects import COMPARE_HAS_ALL
from clar_tune.report.builders.notes import labels, marks, notes_of
from clar_tune.report.numbers import ratio
from clar_tune.report.texts import name

CONSTANT = "constant"
"""The column of what a constant answer scores."""
BALANCED = "balanced acc."
"""The line of balanced accuracy; without its last word it would be taken for the protocol."""


class Found(NamedTuple):
    """What stands in a cell and below it."""

    score: Score | None
    gain: Contrast | None
    effect: PenaltyEffect | None


def matrix_of(comparison: Comparison) -> Matrix:
    """A comparison in the paper's form."""
    scores = {(s.graph, s.condition, s.method): s for s in comparison.scores}
    gains = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    effects = {(e.graph, e.condition, e.method): e for e in comparison.effects}
    floors = any(row.floor is not None for row in comparison.rows)
    rows = []
    for row, label in zip(comparison.rows, labels(comparison), strict=True):
        places = [(row.graph, row.condition, method) for method in comparison.methods]
        found = [Found(scores.get(at), gains.get(at), effects.get(at)) for at in places]
        rows.append(_row(row, label, found, floors=floors))
    return Matrix(
        ident="matrix",
        title=_title(comparison),
        sides=("graph", "method"),
        columns=(
            *(Heading(name(m), name(m), method=m) for m in comparison.methods),
            *([Heading(CONSTANT, CONSTANT)] if floors else []),
        ),
        rows=tuple(rows),
        reading=_reading(comparison),
        notes=notes_of(comparison),
        all_in=COMPARE_HAS_ALL,
        media=(PRINT, PAGE),
    )


def _row(row: ComparedRow, label: str, found: list[Found], *, floors: bool) -> Row:
    notes = [row.condition, *row.notes, row.metric if row.metric != "accuracy" else ""]
    small = name(", ".join(filter(None, notes)))
    constant = Cell(row.floor, numbers.score(row.floor, row.metric))
    cells = [_cell(one.score, row.metric) if one.score else Cell() for one in found]
    below = [b for b in _below(row, found) if any(cell.text for cell in b.cells)]
    if floors:
        cells.append(constant)
        of_balanced = Cell(row.balanced_floor, numbers.score(row.balanced_floor, row.metric))
        constants = {BALANCED: of_balanced}
        below = [replace(b, cells=(*b.cells, constants.get(b.name, Cell()))) for b in below]
    return Row(Heading(label, name(row.graph), small, graph=row.graph), tuple(cells), tuple(below))


def _cell(score: Score, metric: str) -> Cell:
    shown, half = numbers.score(score.mean, metric), numbers.size(score.half_width, metric)
    return Cell(score.mean, shown, "best" if score.best else "", half, marks(score))


def _below(row: ComparedRow, found: list[Found]) -> tuple[Below, ...]:
    """Balanced accuracy, what is gained, of errors as a ratio, and the paper's numbers."""
    metric, gains = row.metric, [one.gain if one.score else None for one in found]
    ratios = tuple(
        Cell(one.gain.ratio, numbers.ratio(one.gain.ratio), _mark(one))
        if one.gain and one.score
        else Cell()
        for one in found
    )
    points = tuple(
        _gained(one, metric) if one.score and not r.text else Cell()
        for one, r in zip(found, ratios, strict=True)
    )
    balanced = tuple(
        Cell(one.score.balanced, numbers.score(one.score.balanced, metric))
        if one.score
        else Cell()
        for one in found
    )
    papers = tuple(_paper(one.score, one.gain, metric) for one in found)
    sign = "× " if any(gain and gain.paper_ratio is not None for gain in gains) else ""
    paper = "paper's ratio" if any(cell.text for cell in ratios) else "paper"
    return (
        Below(BALANCED, balanced, media=(PRINT, PAGE) if row.is_shifted else (PAGE,)),
        Below("ratio to plain", ratios, sign="× "),
        Below("effect" if any(one.effect for one in found) else "gain", points, media=(PAGE,)),
        Below(paper, papers, "paper", sign),
    )


def _gained(one: Found, metric: str) -> Cell:
    """The effect of the penalty with its verdict; without arms the tuned gain."""
    if one.effect is not None:
        return Cell(one.effect.effect, numbers.signed(one.effect.effect, metric), _mark(one))
    if one.gain is not None:
        return Cell(one.gain.gain, numbers.signed(one.gain.gain, metric), "none")
    return Cell()


def _mark(one: Found) -> str:
    return mark_of(one.effect.verdict) if one.effect else "none"


def _paper(score: Score | None, gain: Contrast | None, metric: str) -> Cell:
    """The paper's score, or its ratio to plain where only that compares."""
    if score and gain and gain.paper_ratio is not None:
        return Cell(gain.paper_ratio, ratio(gain.paper_ratio))
    return Cell(score.paper, numbers.score(score.paper, metric)) if score else Cell()


def _title(comparison: Comparison) -> str:
    metrics = dict.fromkeys(row.metric for row in comparison.rows)
    units = [f"{m} in %" if numbers.in_percent(m) else f"{m} (lower is better)" for m in metrics]
    shown = f"{'Test' if _tested(comparison) else 'Training'} {'; '.join(units)}"
    title = f"{shown}: mean ± half of the 95 % interval"
    if any(contrast.ratio is not None for contrast in comparison.contrasts):
        return f"{title}; below it the ratio to the plain backbone"
    if any(score.paper is not None for score in comparison.scores):
        return f"{title}; below it the paper's number"
    return title


def _reading(comparison: Comparison) -> str:
    errors = any(not metric_named(row.metric).higher_is_better for row in comparison.rows)
    kind = "test" if _tested(comparison) else "training"
    parts = [f"Mean {kind} score ± half of its 95 % interval."]
    if errors:
        parts.append("Errors: lower is better.")
    if any(not contrast.rival for contrast in comparison.contrasts):
        gain = "effect of the penalty, compared with" if comparison.effects else "gain over"
        what = "error as a part of that of" if errors else gain
        below = f"Below it the {what} the same backbone without the regularizer"
        printed = any(score.paper is not None for score in comparison.scores) or any(
            contrast.paper_ratio is not None for contrast in comparison.contrasts
        )
        parts.append(f"{below}{', then the paper’s number' if printed else ''}.")
    return " ".join(parts)


def _tested(comparison: Comparison) -> bool:
    return any(PROTOCOLS[row.protocol].held_out for row in comparison.rows)
