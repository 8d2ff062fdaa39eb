"""Scores and what they come to: each method on each row, against its backbone and its rivals."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from clar_tune.analysis import Comparison, Contrast, PenaltyEffect, Place, Score, split_label
from clar_tune.report.blocks import PAGE, PRINT, SIGNS, Cell, Column, Table, mark_of
from clar_tune.report.builders.fields import Field, count, number, spent, table_of, text, words
from clar_tune.report.builders.notes import switched_off
from clar_tune.report.numbers import gain, in_percent, p_value, ratio, score, share, signed, size
from clar_tune.report.texts import name, place

COMPARE_HAS_ALL = "clar-tune compare --format csv prints all."


@dataclass(frozen=True, slots=True)
class Result:
    """A method on a row, and how it compares with another, if it does."""

    score: Score
    metric: str
    contrast: Contrast | None = None
    effect: PenaltyEffect | None = None
    """Of its penalty."""
    floor: float | None = None
    """What a constant answer scores."""
    shift: float | None = None
    """How far class shares move from training to test nodes."""

    @property
    def place(self) -> Place:
        """Where its score stands."""
        return self.score.graph, self.score.condition, self.score.method


def _scored(title: str, cell: Callable[[Score, str], Cell]) -> Field[Result]:
    return number(title, lambda r: cell(r.score, r.metric))


def _compared(title: str, cell: Callable[[Contrast, str], Cell]) -> Field[Result]:
    return number(title, lambda r: cell(r.contrast, r.metric) if r.contrast else Cell())


def _judged(cell: Callable[[str], Cell]) -> Field[Result]:
    return Field(Column("verdict"), lambda r: _if_any(r.contrast, cell))


def _if_any(found: Contrast | PenaltyEffect | None, cell: Callable[[str], Cell]) -> Cell:
    return Cell() if found is None or found.verdict == "none" else cell(found.verdict)


def _in_points(field: Field[Result]) -> Field[Result]:
    """Of errors nothing: what a difference of errors means, depends on their scale."""
    return replace(field, cell=lambda r: Cell() if _has_ratio(r) else field.cell(r))


def _has_ratio(result: Result) -> bool:
    return result.contrast is not None and result.contrast.ratio is not None


def signed_verdict(verdict: str, shown: str = "") -> Cell:
    """A verdict with its sign."""
    mark = mark_of(verdict)
    told = shown or ("no verdict" if verdict == "none" else verdict)
    return text(f"{SIGNS[mark]} {told}".strip(), mark)


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
MEAN = _scored("mean", lambda s, m: Cell(s.mean, score(s.mean, m), "best" if s.best else ""))
HALF = _scored("±", lambda s, m: Cell(s.half_width, size(s.half_width, m)))
PAPER = _scored("paper", lambda s, m: Cell(s.paper, score(s.paper, m)))
ACTIVE = _scored("active", lambda s, _: Cell(s.penalty_active, share(s.penalty_active)))
SEARCHES: Field[Result] = count("searches", lambda r: r.score.searches)
SPREAD = _scored("deviation", lambda s, m: Cell(s.search_spread, size(s.search_spread, m)))

GAIN = _compared("gain", lambda c, m: Cell(c.gain, signed(c.gain, m)))
GAIN_HALF = _compared("± gain", lambda c, m: Cell(c.half_width, size(c.half_width, m)))
POINTS = _in_points(
    _compared("gain", lambda c, m: Cell(c.gain, gain(c.gain, m), half=size(c.half_width, m)))
)
PAPER_GAIN = _compared("paper", lambda c, m: Cell(c.paper_gain, gain(c.paper_gain, m)))
RATIO = _compared("ratio", lambda c, _: Cell(c.ratio, ratio(c.ratio)))
RATIO_WITH_HALF = _compared(
    "ratio", lambda c, _: Cell(c.ratio, ratio(c.ratio), half=ratio(c.ratio_half_width))
)
PAPER_RATIO = _compared("paper's ratio", lambda c, _: Cell(c.paper_ratio, ratio(c.paper_ratio)))
P = _compared("p", lambda c, _: Cell(c.p, p_value(c.p)))
P_HOLM = _compared("p_holm", lambda c, _: Cell(c.p_holm, p_value(c.p_holm)))
DETECTABLE = _compared("detectable", lambda c, m: Cell(c.detectable, size(c.detectable, m)))
DETECTABLE_POINTS = _in_points(DETECTABLE)
VERDICT = _judged(lambda verdict: Cell(verdict, verdict, mark_of(verdict)))
EFFECT: Field[Result] = number(
    "effect",
    lambda r: Cell(r.effect.effect, signed(r.effect.effect, r.metric)) if r.effect else Cell(),
)
EFFECT_HALF: Field[Result] = number(
    "± effect",
    lambda r: Cell(r.effect.half, size(r.effect.half, r.metric)) if r.effect else Cell(),
)
SIGNED_VERDICT: Field[Result] = Field(
    Column("verdict"), lambda r: _if_any(r.effect, signed_verdict)
)
BALANCED = _scored("balanced acc.", lambda s, m: Cell(s.balanced, score(s.balanced, m)))
FLOOR: Field[Result] = number("constant", lambda r: Cell(r.floor, score(r.floor, r.metric)))
SHIFT: Field[Result] = number(
    "shift", lambda r: Cell(r.shift, "" if r.shift is None else f"{r.shift:.2f}")
)
JUDGED = _judged(signed_verdict)
PAIRS: Field[Result] = count("pairs", lambda r: r.contrast.units if r.contrast else None)

_GAIN = (GAIN, GAIN_HALF, RATIO, PAPER_RATIO, P, P_HOLM, DETECTABLE)
_GAIN_HELP = {
    "gain": "Winners side by side: mean paired difference; positive is better",
    "± gain": "Half the width of the 95 % interval of the gain",
    "ratio": "Mean error as a part of that compared with; below 1 is better",
    "paper's ratio": "The same of the errors that the paper prints",
    "p": "Two-sided test of the paired gain",
    "p_holm": "Corrected by Holm over all planned comparisons",
    "detectable": "True gain found with probability 0.8 at Holm's first step",
    "verdict": "On the effect of the penalty",
}
_EFFECT_HELP = {
    "effect": "What switching the penalty on changes, at the configurations of the winners",
    "± effect": "Half the width of its 95 % interval, over splits",
    "balanced acc.": "Mean balanced accuracy",
    "constant": "What a constant answer scores",
    "shift": "Label shift: total variation between the class shares of training and test nodes",
}
_PRINTED_GAIN = (
    *(POINTS, PAPER_GAIN, RATIO_WITH_HALF, PAPER_RATIO.but(title="paper's"), P, P_HOLM),
    DETECTABLE_POINTS,
)


def results_of(comparison: Comparison) -> list[Result]:
    """Every score, with its gain over the plain backbone."""
    gains = {(c.graph, c.condition, c.method): c for c in comparison.contrasts if not c.rival}
    effects = {(e.graph, e.condition, e.method): e for e in comparison.effects}
    rows = {(row.graph, row.condition): row for row in comparison.rows}
    found = []
    for s in comparison.scores:
        row, at = rows[s.graph, s.condition], (s.graph, s.condition, s.method)
        found.append(Result(s, row.metric, gains.get(at), effects.get(at), row.floor, row.shift))
    return found


def rivals_of(comparison: Comparison) -> list[Result]:
    """Every comparison of clar with another regularizer of the same backbone."""
    results = {result.place: result for result in results_of(comparison)}
    rivals = [c for c in comparison.contrasts if c.rival]
    pairs = [(results.get((c.graph, c.condition, c.method)), c) for c in rivals]
    return [Result(own.score, own.metric, contrast) for own, contrast in pairs if own]


def gains_table(comparison: Comparison) -> Table:
    """Each regularizer against its plain backbone, in few columns."""
    title = f"Tuned gain: winners side by side with their backbone, {_unit(comparison)}"
    found = [result for result in results_of(comparison) if result.contrast]
    fields = (PLACE, MARKED_METHOD, *_PRINTED_GAIN, ACTIVE, VERDICT, PAIRS)
    pairs = "searches" if comparison.unit == "search" else "splits or seeds"
    active = "active: share of epochs in which the penalty had a gradient."
    note = f"{active} pairs: {pairs} that both have."
    return table_of("gains", title, fields, found, 2, note, grouped=True, media=(PRINT,))


def gains_over_rivals_table(comparison: Comparison) -> Table:
    """The same of clar against each other regularizer."""
    title = f"Tuned gain of clar over each rival, {_unit(comparison)}"
    fields = (PLACE, MARKED_METHOD, AGAINST, *_PRINTED_GAIN, VERDICT, PAIRS)
    found = rivals_of(comparison)
    return table_of("gains-over-rivals", title, fields, found, 3, grouped=True, media=(PRINT,))


def searches_table(comparison: Comparison) -> Table:
    """How far repeated searches lie apart."""
    title = "Repeated searches: standard deviation of their means"
    found = [r for r in results_of(comparison) if r.score.search_spread is not None]
    fields = (PLACE, METHOD, SEARCHES, SPREAD)
    return table_of("searches", title, fields, found, 2, media=(PRINT,))


def scores_table(comparison: Comparison) -> Table:
    """One line per score: a method on a graph, with its gain over the plain backbone."""
    percent = _in_percent(comparison)
    unit = "%" if percent else "natural units, errors: lower is better"
    help = {
        "mean": f"Mean test score over finals, in {unit}",
        "±": "Half the width of the 95 % interval",
        "paper": "What the paper prints",
        "active": "Share of epochs in which the penalty had a gradient",
    }
    fields = (
        *(GRAPH, CONDITION, METHOD, MEAN, HALF, BALANCED, FLOOR, SHIFT, PAPER),
        *(EFFECT, EFFECT_HALF, SIGNED_VERDICT, *_GAIN, ACTIVE),
    )
    return table_of(
        *("scores", "All scores", (*fields, *spent(lambda r: r.score.budget))),
        *(results_of(comparison), 3),
        f"Scores in {unit}; {'gains' if percent else 'gains and ratios'} over the same backbone "
        f"without the regularizer{' in points' if percent else ''}, and what each study was "
        "given.",
        helps={**help, **_GAIN_HELP, **_EFFECT_HELP},
        optional=("condition", "paper", "active", *_GAIN_HELP, *_EFFECT_HELP),
        all_in=COMPARE_HAS_ALL,
        media=(PAGE,),
    )


def rivals_table(comparison: Comparison) -> Table:
    """The regularizer clar against the others of the same backbone."""
    return table_of(
        *(
            "rivals",
            "clar against its rivals",
            (GRAPH, CONDITION, METHOD, AGAINST, *_GAIN, JUDGED),
        ),
        *(rivals_of(comparison), 4),
        "clar against each other regularizer of the same backbone, paired in the same way.",
        helps=_GAIN_HELP,
        optional=("condition", *_GAIN_HELP),
        all_in=COMPARE_HAS_ALL,
        media=(PAGE,),
    )


def tallies_table(comparison: Comparison) -> Table:
    """Verdicts at a glance: how often each regularizer was better, worse, or neither.

    One line per regularizer, and condition of its column, in the order of the comparison.
    """
    verdicts: dict[str, list[str]] = {}
    for effect in comparison.effects:
        _, condition = split_label(effect.method)
        regularizer = f"{effect.regularizer} {condition}".strip()
        verdicts.setdefault(regularizer, []).append(mark_of(effect.verdict))
    fields = (words("regularizer", lambda found: found[0]), *map(_tally, SIGNS))
    title = "Effect of the penalty"
    return table_of("tallies", title, fields, verdicts.items(), optional=(), media=(PAGE,))


def _tally(verdict: str) -> Field[tuple[str, list[str]]]:
    return number(verdict, lambda found: Cell(n := found[1].count(verdict), str(n), verdict))


def _unit(comparison: Comparison) -> str:
    return "in points" if _in_percent(comparison) else "as a ratio of errors"


def _in_percent(comparison: Comparison) -> bool:
    return all(in_percent(row.metric) for row in comparison.rows)
