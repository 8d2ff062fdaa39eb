"""The paper's form of a comparison: rows x methods, our number and the paper's."""

from clar_tune.analysis import Comparison, Contrast, Row as ComparedRow, Score
from clar_tune.graphs import PROTOCOLS
from clar_tune.metric import metric_named
from clar_tune.report import numbers
from clar_tune.report.blocks import PAGE, PRINT, Below, Cell, Heading, Matrix, Row
from clar_tune.report.builders.effects import COMPARE_HAS_ALL
from clar_tune.report.builders.notes import labels, marks, notes_of
from clar_tune.report.numbers import ratio
from clar_tune.report.texts import name

Pair = tuple[Score | None, Contrast | None]


def matrix_of(comparison: Comparison) -> Matrix:
    """A comparison in the paper's form."""
    scores = {(s.graph, s.condition, s.method): s for s in comparison.scores}
    gains = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    rows = []
    for row, label in zip(comparison.rows, labels(comparison), strict=True):
        places = [(row.graph, row.condition, method) for method in comparison.methods]
        rows.append(_row(row, label, [(scores.get(at), gains.get(at)) for at in places]))
    return Matrix(
        ident="matrix",
        title=_title(comparison),
        sides=("graph", "method"),
        columns=tuple(Heading(name(m), name(m), method=m) for m in comparison.methods),
        rows=tuple(rows),
        reading=_reading(comparison),
        notes=notes_of(comparison),
        all_in=COMPARE_HAS_ALL,
        media=(PRINT, PAGE),
    )


def _row(row: ComparedRow, label: str, pairs: list[Pair]) -> Row:
    notes = [row.condition, *row.notes, row.metric if row.metric != "accuracy" else ""]
    small = name(", ".join(filter(None, notes)))
    return Row(
        Heading(label, name(row.graph), small, graph=row.graph),
        tuple(_cell(score, row.metric) if score else Cell() for score, _ in pairs),
        tuple(below for below in _below(row.metric, pairs) if any(c.text for c in below.cells)),
    )


def _cell(score: Score, metric: str) -> Cell:
    shown, half = numbers.score(score.mean, metric), numbers.size(score.half_width, metric)
    return Cell(score.mean, shown, "best" if score.best else "", half, marks(score))


def _below(metric: str, pairs: list[Pair]) -> tuple[Below, ...]:
    """What is gained, of errors as a ratio, and the paper's numbers."""
    gains = [gain if score else None for score, gain in pairs]
    ratios = tuple(
        Cell(g.ratio, numbers.ratio(g.ratio), g.verdict) if g else Cell() for g in gains
    )
    points = tuple(
        Cell(g.gain, numbers.signed(g.gain, metric), g.verdict) if g and not r.text else Cell()
        for g, r in zip(gains, ratios, strict=True)
    )
    papers = tuple(_paper(score, gain, metric) for score, gain in pairs)
    sign = "× " if any(gain and gain.paper_ratio is not None for gain in gains) else ""
    paper = "paper's ratio" if any(cell.text for cell in ratios) else "paper"
    return (
        Below("ratio to plain", ratios, sign="× "),
        Below("gain", points, media=(PAGE,)),
        Below(paper, papers, "paper", sign),
    )


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
        what = "error as a part of that of" if errors else "gain over"
        below = f"Below it the {what} the same backbone without the regularizer"
        printed = any(score.paper is not None for score in comparison.scores) or any(
            contrast.paper_ratio is not None for contrast in comparison.contrasts
        )
        parts.append(f"{below}{', then the paper’s number' if printed else ''}.")
    return " ".join(parts)


def _tested(comparison: Comparison) -> bool:
    return any(PROTOCOLS[row.protocol].held_out for row in comparison.rows)
