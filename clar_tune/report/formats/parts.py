"""The tables that stand below the matrix, in plain text: every format prints the same ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from clar_tune.analysis import Comparison, Contrast, PairAcross, Score, Standing, probability
from clar_tune.report.formats import numbers
from clar_tune.report.formats.notes import switched_off
from clar_tune.report.formats.texts import name, place, sentence

Cells = tuple[str, ...]

_ACTIVE_NOTE = "active: share of epochs in which the penalty had a gradient."
_PAIRS_NOTES = {
    "final": "pairs: splits or seeds that both have.",
    "search": "pairs: searches that both have.",
}
_STANDINGS_NOTE = (
    "best: rows with the best mean, of all. win/tie/loss: rows with a higher, equal or lower mean "
    "than the plain backbone; better, worse: those with such a verdict. rank: average over the "
    "rows that all methods have, 1 is best. trials: done/asked. repeats: trainings of the search. "
    "seconds: the search and the finals of its winner."
)


@dataclass(frozen=True, slots=True)
class Part:
    """One table: names in the first columns, numbers and verdicts in the others."""

    title: str
    columns: Cells
    names: int
    """How many of the columns hold names."""
    lines: tuple[Cells, ...]
    note: str = ""
    """How to read the columns."""

    grouped: bool = False
    """Whether lines with the same first name belong together."""

    def starts_group(self, place: int) -> bool:
        """Whether a line begins with another name than the one before it."""
        return not place or self.lines[place][0] != self.lines[place - 1][0]


def heading(comparison: Comparison) -> str:
    """What is compared, in one line."""
    runs = ", ".join(map(name, comparison.runs))
    table = comparison.paper_table
    beside = f", beside Table {name(table)} of the paper" if table else ""
    return f"{runs}: {name(comparison.space)}, {name(comparison.settings)} settings{beside}"


def without_finals(comparison: Comparison) -> str:
    """What to say where there is nothing to compare."""
    return f"{', '.join(map(name, comparison.runs))}: no winner has finals yet."


def sentences(texts: Iterable[str]) -> list[str]:
    """The caption or the conclusions, fit to be printed."""
    return [sentence(text) for text in texts]


def parts_of(comparison: Comparison) -> Iterator[Part]:
    """All tables that have anything to say."""
    own = [contrast for contrast in comparison.contrasts if not contrast.rival]
    rivals = [contrast for contrast in comparison.contrasts if contrast.rival]
    yield from _gains(comparison, own, "Gain of each regularizer over its backbone")
    yield from _gains(comparison, rivals, "Gain of clar over each rival", rivals=True)
    yield _standings(comparison)
    yield from _searches(comparison)
    yield from _across(comparison)


def _gains(
    comparison: Comparison, contrasts: Sequence[Contrast], title: str, *, rivals: bool = False
) -> Iterator[Part]:
    if not contrasts:
        return
    metrics = {(row.graph, row.condition): row.metric for row in comparison.rows}
    percent = all(numbers.in_percent(metric) for metric in metrics.values())
    columns = ("graph", "method", *(["against"] if rivals else []), "gain", "paper")
    scores = {(s.graph, s.condition, s.method): s for s in comparison.scores}
    lines = [
        _gain_line(
            contrast,
            scores[contrast.graph, contrast.condition, contrast.method],
            metrics[contrast.graph, contrast.condition],
            rivals=rivals,
        )
        for contrast in contrasts
    ]
    yield without_empty_columns(
        Part(
            title=f"{title}, {'in points' if percent else 'as a ratio of errors'}",
            columns=(
                *(*columns, "ratio", "paper's", "p", "p_holm", "detectable", "active"),
                *("verdict", "pairs"),
            ),
            names=3 if rivals else 2,
            lines=tuple(lines),
            note="" if rivals else f"{_ACTIVE_NOTE} {_PAIRS_NOTES[comparison.unit]}",
            grouped=len({line[0] for line in lines}) < len(lines),
        )
    )


def _gain_line(contrast: Contrast, score: Score, metric: str, *, rivals: bool) -> Cells:
    half = "" if contrast.half_width is None else f" ± {numbers.size(contrast.half_width, metric)}"
    paper, detectable = contrast.paper_gain, contrast.detectable
    return (
        place(contrast.graph, contrast.condition),
        name(contrast.method) + switched_off(score),
        *([name(contrast.against)] if rivals else []),
        numbers.gain(contrast.gain, metric) + half if contrast.ratio is None else "",
        "" if paper is None else numbers.gain(paper, metric),
        numbers.ratio(contrast.ratio, contrast.ratio_half_width),
        numbers.ratio(contrast.paper_ratio),
        numbers.p_value(contrast.p),
        numbers.p_value(contrast.p_holm),
        "" if detectable is None or contrast.ratio else numbers.size(detectable, metric),
        "" if rivals else numbers.share(score.penalty_active),
        contrast.verdict,
        numbers.count(contrast.units),
    )


def _standings(comparison: Comparison) -> Part:
    return without_empty_columns(
        Part(
            title="Methods over all rows, and the budget of each",
            columns=(
                *("method", "best", "win/tie/loss", "better", "worse", "rank", "active"),
                *("trials", "failed", "repeats", "finals", "seconds"),
            ),
            names=1,
            lines=tuple(
                _standing_line(standing, _active(comparison, standing.method))
                for standing in comparison.standings
            ),
            note=_STANDINGS_NOTE,
        )
    )


def _standing_line(standing: Standing, active: float | None) -> Cells:
    compared = standing.wins + standing.ties + standing.losses
    budget = standing.budget
    return (
        name(standing.method),
        f"{standing.bests}/{standing.rows}",
        f"{standing.wins}/{standing.ties}/{standing.losses}" if compared else "",
        str(standing.better) if compared else "",
        str(standing.worse) if compared else "",
        "" if standing.rank is None else f"{standing.rank:.2f}",
        numbers.share(active),
        f"{numbers.count(budget.trials)}/{numbers.count(budget.asked)}",
        numbers.count(budget.failed),
        numbers.count(budget.repeats),
        numbers.count(budget.finals),
        numbers.count(budget.seconds),
    )


def _active(comparison: Comparison, method: str) -> float | None:
    """Mean over the rows of the share of epochs in which the penalty had a gradient."""
    scores = (score for score in comparison.scores if score.method == method)
    found = [score.penalty_active for score in scores if score.penalty_active is not None]
    return fmean(found) if found else None


def _searches(comparison: Comparison) -> Iterator[Part]:
    metrics = {(row.graph, row.condition): row.metric for row in comparison.rows}
    lines = [
        (
            place(score.graph, score.condition),
            name(score.method),
            str(score.searches),
            numbers.size(score.search_spread, metrics[score.graph, score.condition]),
        )
        for score in comparison.scores
        if score.search_spread is not None
    ]
    if lines:
        yield Part(
            title="Repeated searches: standard deviation of their means",
            columns=("graph", "method", "searches", "deviation"),
            names=2,
            lines=tuple(lines),
        )


def _across(comparison: Comparison) -> Iterator[Part]:
    across = comparison.across
    if across.reason:
        return  # the conclusions say why
    ranked = sorted(zip(across.ranks, across.methods, strict=True))
    test = "" if across.friedman is None else f"; Friedman: {probability(across.friedman)}"
    yield Part(
        title=f"Average ranks over {len(across.graphs)} distinct graphs{test}",
        columns=("method", "rank"),
        names=1,
        lines=tuple((name(method), f"{rank:.2f}") for rank, method in ranked),
    )
    # All pairs are for the diagram of ranks; they would fill pages here.
    ordered = sorted(across.planned, key=lambda pair: (pair.p_holm, pair.p))
    if ordered:
        yield Part(
            title="Planned comparisons over these graphs (Wilcoxon, corrected by Holm)",
            columns=("method", "against", "p", "p_holm", "ahead"),
            names=2,
            lines=tuple(map(_planned_line, ordered)),
            note="ahead: which of both the signed ranks speak for.",
        )


def _planned_line(pair: PairAcross) -> Cells:
    return (
        name(pair.method),
        name(pair.against),
        numbers.p_value(pair.p),
        numbers.p_value(pair.p_holm),
        name(pair.ahead),
    )


def without_empty_columns(part: Part) -> Part:
    """Columns in which nothing stands only cost width."""
    kept = [place for place in range(len(part.columns)) if any(line[place] for line in part.lines)]
    return Part(
        title=part.title,
        columns=tuple(part.columns[place] for place in kept),
        names=part.names,
        lines=tuple(tuple(line[place] for place in kept) for line in part.lines),
        note=part.note,
        grouped=part.grouped,
    )
