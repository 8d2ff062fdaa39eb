"""Scores and what they come to: each method on each row, against its backbone and its rivals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clar_tune.analysis import Comparison, Contrast, Place, Score, split_label
from clar_tune.report import numbers
from clar_tune.report.builders.fields import Field, count, spent, table_of, text, words
from clar_tune.report.builders.notes import SIGNS, switched_off
from clar_tune.report.document import PAGE, PRINT, Cell, Column, Line, Table
from clar_tune.report.texts import name, place

COMPARE_HAS_ALL = "clar-tune compare --format csv prints all."
_PAIRS_NOTES = {
    "final": "pairs: splits or seeds that both have.",
    "search": "pairs: searches that both have.",
}


@dataclass(frozen=True, slots=True)
class Result:
    """A method on a row, and how it compares with another, if it does."""

    score: Score
    metric: str
    contrast: Contrast | None = None

    @property
    def place(self) -> Place:
        """Where its score stands."""
        return self.score.graph, self.score.condition, self.score.method


def _scored(
    title: str,
    value: Callable[[Score], float | None],
    shown: Callable[[float | None, str], str],
    help: str = "",
) -> Field[Result]:
    """A column of what a score holds."""
    return Field(
        Column(title, True, help),
        lambda r: Cell(value(r.score), shown(value(r.score), r.metric)),
    )


def _compared(
    title: str,
    value: Callable[[Contrast], Any],
    shown: Callable[[Any, str], str],
    help: str = "",
) -> Field[Result]:
    """A column of what a contrast holds; empty without one."""

    def cell(result: Result) -> Cell:
        if result.contrast is None:
            return Cell()
        found = value(result.contrast)
        return Cell(found, shown(found, result.metric))

    return Field(Column(title, True, help), cell)


def _judged(verdict: Callable[[str], Cell]) -> Field[Result]:
    return Field(
        Column("verdict", False, "From p_holm < 0.05"),
        lambda r: verdict(r.contrast.verdict) if r.contrast else Cell(),
    )


def signed_verdict(verdict: str, shown: str = "") -> Cell:
    """A verdict with its sign, for eyes that do not tell colours apart."""
    told = shown or ("no verdict" if verdict == "none" else verdict)
    return text(f"{SIGNS[verdict]} {told}".strip(), verdict)


GRAPH: Field[Result] = words("graph", lambda r: r.score.graph)
CONDITION: Field[Result] = words("condition", lambda r: r.score.condition)
METHOD: Field[Result] = words("method", lambda r: r.score.method)
AGAINST: Field[Result] = words("against", lambda r: r.contrast.against if r.contrast else "")
PLACE: Field[Result] = Field(
    Column("graph"), lambda r: Cell(r.score.graph, place(r.score.graph, r.score.condition))
)
MARKED_METHOD: Field[Result] = Field(
    Column("method"), lambda r: Cell(r.score.method, name(r.score.method) + switched_off(r.score))
)
HALF = _scored("±", lambda s: s.half_width, numbers.size, "Half the width of the 95 % interval")
PAPER = _scored("paper", lambda s: s.paper, numbers.score, "What the paper prints")
ACTIVE = _scored(
    "active",
    lambda s: s.penalty_active,
    lambda share, _: numbers.share(share),
    "Share of epochs in which the penalty had a gradient",
)
SEARCHES: Field[Result] = count("searches", lambda r: r.score.searches)
DEVIATION = _scored("deviation", lambda s: s.search_spread, numbers.size)

GAIN = _compared(
    "gain", lambda c: c.gain, numbers.signed, "Mean paired difference; positive is better"
)
GAIN_HALF = _compared(
    "± gain",
    lambda c: c.half_width,
    numbers.size,
    "Half the width of the 95 % interval of the gain",
)
PAPER_GAIN = _compared("paper", lambda c: c.paper_gain, numbers.gain)
RATIO = _compared(
    "ratio",
    lambda c: c.ratio,
    lambda ratio, _: numbers.ratio(ratio),
    "Mean error as a part of that compared with; below 1 is better",
)
PAPER_RATIO = _compared(
    "paper's ratio",
    lambda c: c.paper_ratio,
    lambda ratio, _: numbers.ratio(ratio),
    "The same of the errors that the paper prints",
)
P = _compared(
    "p", lambda c: c.p, lambda p, _: numbers.p_value(p), "Two-sided test of the paired gain"
)
P_HOLM = _compared(
    "p_holm",
    lambda c: c.p_holm,
    lambda p, _: numbers.p_value(p),
    "Corrected by Holm over all planned comparisons",
)
DETECTABLE = _compared(
    "detectable",
    lambda c: c.detectable,
    numbers.size,
    "True gain found with probability 0.8 at Holm's first step",
)
VERDICT = _judged(lambda verdict: Cell(verdict, verdict, verdict))
PAIRS = _compared("pairs", lambda c: c.units, lambda units, _: numbers.count(units))

# Of errors, print has ratios alone: what a difference of errors means, depends on their scale.
POINTS = _compared(
    "gain",
    lambda c: None if c.ratio is not None else c,
    lambda c, metric: (
        numbers.between(numbers.gain(c.gain, metric), numbers.size(c.half_width, metric))
        if c
        else ""
    ),
)
DETECTABLE_POINTS = _compared(
    "detectable", lambda c: None if c.ratio else c.detectable, numbers.size
)
RATIO_WITH_HALF = _compared(
    "ratio",
    lambda c: c,
    lambda c, _: numbers.between(numbers.ratio(c.ratio), numbers.ratio(c.ratio_half_width)),
)

_GAIN = (GAIN, GAIN_HALF, RATIO, PAPER_RATIO, P, P_HOLM, DETECTABLE, _judged(signed_verdict))
_PRINTED_GAIN = (
    *(POINTS, PAPER_GAIN, RATIO_WITH_HALF, PAPER_RATIO.named("paper's"), P, P_HOLM),
    DETECTABLE_POINTS,
)


def results_of(comparison: Comparison) -> list[Result]:
    """Every score, with its gain over the plain backbone."""
    metrics = metrics_of(comparison)
    gains = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    return [
        Result(s, metrics[s.graph, s.condition], gains.get((s.graph, s.condition, s.method)))
        for s in comparison.scores
    ]


def rivals_of(comparison: Comparison) -> list[Result]:
    """Every comparison of clar with another regularizer of the same backbone."""
    results = {result.place: result for result in results_of(comparison)}
    rivals = [c for c in comparison.contrasts if c.rival]
    pairs = [(results.get((c.graph, c.condition, c.method)), c) for c in rivals]
    return [Result(own.score, own.metric, contrast) for own, contrast in pairs if own]


def metrics_of(comparison: Comparison) -> dict[tuple[str, str], str]:
    """The metric of each row, by graph and condition."""
    return {(row.graph, row.condition): row.metric for row in comparison.rows}


def gains_table(comparison: Comparison) -> Table:
    """Each regularizer against its plain backbone, in few columns."""
    pairs = _PAIRS_NOTES[comparison.unit]
    return _printed(
        comparison,
        "gains",
        "Gain of each regularizer over its backbone",
        (PLACE, MARKED_METHOD, *_PRINTED_GAIN, ACTIVE, VERDICT, PAIRS),
        [result for result in results_of(comparison) if result.contrast],
        note=f"active: share of epochs in which the penalty had a gradient. {pairs}",
    )


def gains_over_rivals_table(comparison: Comparison) -> Table:
    """The same of clar against each other regularizer."""
    return _printed(
        comparison,
        "gains-over-rivals",
        "Gain of clar over each rival",
        (PLACE, MARKED_METHOD, AGAINST, *_PRINTED_GAIN, VERDICT, PAIRS),
        rivals_of(comparison),
        heads=3,
    )


def _printed(
    comparison: Comparison,
    ident: str,
    title: str,
    fields: Sequence[Field[Result]],
    results: Sequence[Result],
    heads: int = 2,
    note: str = "",
) -> Table:
    unit = "in points" if _in_percent(comparison) else "as a ratio of errors"
    return table_of(
        *(ident, f"{title}, {unit}", fields, results),
        heads=heads,
        note=note,
        grouped=True,
        line=_line,
        media=(PRINT,),
    )


def searches_table(comparison: Comparison) -> Table:
    """How far repeated searches lie apart."""
    return table_of(
        "searches",
        "Repeated searches: standard deviation of their means",
        (PLACE, METHOD, SEARCHES, DEVIATION),
        [r for r in results_of(comparison) if r.score.search_spread is not None],
        heads=2,
        line=_line,
        media=(PRINT,),
    )


def scores_table(comparison: Comparison) -> Table:
    """One line per score: a method on a graph, with its gain over the plain backbone."""
    percent = _in_percent(comparison)
    unit = "%" if percent else "natural units, errors: lower is better"
    mean: Field[Result] = Field(
        Column("mean", True, f"Mean test score over finals, in {unit}"),
        lambda r: Cell(
            r.score.mean, numbers.score(r.score.mean, r.metric), "best" if r.score.best else ""
        ),
    )
    return table_of(
        "scores",
        "All scores",
        (
            *(GRAPH, CONDITION, METHOD, mean, HALF, PAPER, *_GAIN, ACTIVE),
            *spent(lambda r: r.score.budget),
        ),
        results_of(comparison),
        heads=3,
        note=f"Scores in {unit}; {'gains' if percent else 'gains and ratios'} over the same "
        f"backbone without the regularizer{' in points' if percent else ''}, and what each study "
        "was given.",
        optional=("condition", "paper", "active", *(field.column.title for field in _GAIN)),
        line=_line,
        all_in=COMPARE_HAS_ALL,
        media=(PAGE,),
    )


def rivals_table(comparison: Comparison) -> Table:
    """The regularizer clar against the others of the same backbone."""
    return table_of(
        "rivals",
        "clar against its rivals",
        (GRAPH, CONDITION, METHOD, AGAINST, *_GAIN),
        rivals_of(comparison),
        heads=4,
        note="clar against each other regularizer of the same backbone, paired in the same way.",
        optional=("condition", "ratio", "paper's ratio"),
        line=_line,
        all_in=COMPARE_HAS_ALL,
        media=(PAGE,),
    )


def tallies_table(comparison: Comparison) -> Table:
    """Verdicts at a glance: how often each regularizer was better, worse, or neither.

    One line per regularizer, and condition of its column, in the order of the comparison.
    """
    verdicts: dict[str, list[str]] = {}
    for contrast in comparison.contrasts:
        if not contrast.rival:
            method, condition = split_label(contrast.method)
            regularizer = f"{method.partition('+')[2]} {condition}".strip()
            verdicts.setdefault(regularizer, []).append(contrast.verdict)
    order = ("better", "undecided", "worse", "none")
    return Table(
        ident="tallies",
        title="Against the plain backbone",
        columns=(Column("regularizer"), *(Column(verdict, True) for verdict in order)),
        lines=tuple(
            Line((text(key), *(Cell(n := found.count(v), f"{n}", v) for v in order)))
            for key, found in verdicts.items()
        ),
        media=(PAGE,),
    )


def _line(result: Result) -> dict[str, str]:
    return {"graph": result.score.graph, "method": result.score.method}


def _in_percent(comparison: Comparison) -> bool:
    return all(map(numbers.in_percent, metrics_of(comparison).values()))
