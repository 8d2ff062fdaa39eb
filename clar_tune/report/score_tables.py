"""Every number of a comparison, line by line."""

from collections.abc import Mapping

from clar_tune.analysis import Budget, Comparison, Contrast, Score
from clar_tune.report import words
from clar_tune.report.cells import Cell, Column, Line, Table, numeric, span, table, text, whole
from clar_tune.report.excerpts import COMPARE_HAS_ALL
from clar_tune.report.formats import numbers
from clar_tune.report.matrix import MARKS

VERDICTS = {"better": "better", "worse": "worse", "undecided": "undecided", "none": "no verdict"}

_GAIN = (
    Column("gain", True, "Mean paired difference; positive is better"),
    Column("± gain", True, "Half the width of the 95 % interval of the gain"),
    Column("ratio", True, "Mean error as a part of that compared with; below 1 is better"),
    Column("paper's ratio", True, "The same of the errors that the paper prints"),
    Column("p", True, "Two-sided test of the paired gain"),
    Column("p_holm", True, "Corrected by Holm over all planned comparisons"),
    Column(
        "detectable",
        True,
        "True gain found with probability 0.8 at Holm's first step",
    ),
    Column("verdict", False, "From p_holm < 0.05"),
)
_SPENT = (
    Column("trials", True),
    Column("failed", True),
    Column("repeats", True, "Trainings of the search"),
    Column("finals", True, "Trainings of the winner on fresh splits"),
    Column("time", True, "Of the search and of the winner's finals"),
)


def scores_table(comparison: Comparison) -> Table:
    """One line per score: a method on a graph, with its gain over the plain backbone."""
    metrics = _metrics(comparison)
    percent = all(map(numbers.in_percent, metrics.values()))
    unit = "%" if percent else "natural units, errors: lower is better"
    columns = (
        *(Column("graph"), Column("condition"), Column("method")),
        Column("mean", True, f"Mean test score over finals, in {unit}"),
        Column("±", True, "Half the width of the 95 % interval"),
        Column("paper", True, "What the paper prints"),
        *_GAIN,
        Column("active", True, "Share of epochs in which the penalty had a gradient"),
        *_SPENT,
    )
    plain = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    lines = [
        _score(s, plain.get((s.graph, s.condition, s.method)), metrics[s.graph, s.condition])
        for s in comparison.scores
    ]
    return table(
        "scores",
        f"Scores in {unit}; {'gains' if percent else 'gains and ratios'} over the same backbone "
        f"without the regularizer{' in points' if percent else ''}, and what each study was "
        "given.",
        columns,
        lines,
        heads=3,
        optional=("condition", "paper", "active", *(column.name for column in _GAIN)),
        all_in=COMPARE_HAS_ALL,
    )


def rivals_table(comparison: Comparison) -> Table:
    """The regularizer clar against the others of the same backbone."""
    metrics = _metrics(comparison)
    columns = (
        *(Column("graph"), Column("condition"), Column("method"), Column("against")),
        *_GAIN,
    )
    lines = [
        Line(
            cells=(
                *(text(c.graph), text(c.condition), text(c.method), text(c.against)),
                *_gain(c, metrics[c.graph, c.condition]),
            ),
            graph=c.graph,
            method=c.method,
        )
        for c in comparison.contrasts
        if c.rival
    ]
    caption = "clar against each other regularizer of the same backbone, paired in the same way."
    optional = ("condition", "ratio", "paper's ratio")
    return table(
        "rivals", caption, columns, lines, heads=4, optional=optional, all_in=COMPARE_HAS_ALL
    )


def standings_table(comparison: Comparison) -> Table:
    """One line per method over all rows."""
    columns = (
        Column("method"),
        Column("rank", True, "Average over the rows that all methods have; 1 is best"),
        Column("rows", True, "Graphs and conditions with finals"),
        Column("best", True, "Rows in which no method has a better mean"),
        Column("wins", True, "Better mean than the plain backbone"),
        Column("ties", True, "Equal mean, as printed"),
        Column("losses", True, "Worse mean than the plain backbone"),
        Column("better", True, "Rows with this verdict"),
        Column("worse", True, "Rows with this verdict"),
        *_SPENT,
    )
    lines = []
    for standing in comparison.standings:
        counts = (standing.rows, standing.bests, standing.wins, standing.ties, standing.losses)
        plain = not standing.wins + standing.ties + standing.losses
        cells = (
            text(standing.method),
            numeric(_rank(standing.rank), standing.rank),
            *map(whole, counts[:2]),
            *(Cell("") if plain else whole(count) for count in counts[2:]),
            *(Cell("") if plain else whole(c) for c in (standing.better, standing.worse)),
            *_spent(standing.budget),
        )
        lines.append(Line(cells, method=standing.method))
    caption = "Methods over all rows: means, verdicts, and the budget each one had."
    return table("standings", caption, columns, lines)


def _metrics(comparison: Comparison) -> Mapping[tuple[str, str], str]:
    return {(row.graph, row.condition): row.metric for row in comparison.rows}


def _score(found: Score, contrast: Contrast | None, metric: str) -> Line:
    mark = "best" if found.best else ""
    cells = (
        *(text(found.graph), text(found.condition), text(found.method)),
        numeric(words.score(found.mean, metric), found.mean, mark),
        numeric(words.size(found.half_width, metric), found.half_width),
        numeric(words.score(found.paper, metric), found.paper),
        *(_gain(contrast, metric) if contrast else [Cell("")] * len(_GAIN)),
        numeric(numbers.share(found.penalty_active), found.penalty_active),
        *_spent(found.budget),
    )
    return Line(cells, graph=found.graph, method=found.method)


def _gain(found: Contrast, metric: str) -> list[Cell]:
    sign = MARKS[found.verdict]
    return [
        numeric(words.gain(found.gain, metric), found.gain),
        numeric(words.size(found.half_width, metric), found.half_width),
        numeric(numbers.ratio(found.ratio), found.ratio),
        numeric(numbers.ratio(found.paper_ratio), found.paper_ratio),
        numeric(numbers.p_value(found.p), found.p),
        numeric(numbers.p_value(found.p_holm), found.p_holm),
        numeric(words.size(found.detectable, metric), found.detectable),
        text(f"{sign} {VERDICTS[found.verdict]}".strip(), found.verdict),
    ]


def _rank(rank: float | None) -> str:
    return "" if rank is None else f"{rank:.2f}"


def _spent(budget: Budget) -> list[Cell]:
    counts = (budget.trials, budget.failed, budget.repeats, budget.finals)
    return [*map(whole, counts), span(budget.seconds)]
