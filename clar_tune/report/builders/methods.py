"""Methods over all rows, and over distinct graphs."""

from collections.abc import Sequence
from statistics import fmean

from clar_tune.analysis import LEVEL, Comparison, PairAcross, Standing, least_p, probability
from clar_tune.report import numbers
from clar_tune.report.blocks import PAGE, PRINT, Cell, Column, Table
from clar_tune.report.builders.effects import signed_verdict
from clar_tune.report.builders.fields import Field, count, number, spent, table_of, words
from clar_tune.report.numbers import p_value

_STANDINGS_NOTE = (
    "best: rows with the best mean, of all. win/tie/loss: rows with a higher, equal or lower mean "
    "than the plain backbone; better, worse: those with such a verdict. rank: average over the "
    "rows that all methods have, 1 is best. trials: done/asked. repeats: trainings of the search. "
    "seconds: the search and the finals of its winner."
)
_STANDINGS_HELP = {
    "rank": "Average over the rows that all methods have; 1 is best",
    "rows": "Graphs and conditions with finals",
    "best": "Rows in which no method has a better mean",
    "wins": "Better mean than the plain backbone",
    "ties": "Equal mean, as printed",
    "losses": "Worse mean than the plain backbone",
    "better": "Rows with this verdict",
    "worse": "Rows with this verdict",
}
_ACROSS_HELP = {
    "ahead": "Which of both the signed ranks speak for",
    "p": "Wilcoxon's signed ranks, two-sided",
    "p_holm": "Corrected by Holm over the pairs of this table",
    "told apart": "From p_holm < 0.05: how the method stands to the other",
}


def _counted(field: str) -> Field[Standing]:
    """A count against the plain backbone, which a plain backbone does not have."""
    return count(field, lambda s: getattr(s, field) if _is_compared(s) else None)


def _is_compared(standing: Standing) -> bool:
    return bool(standing.wins + standing.ties + standing.losses)


METHOD: Field[Standing] = words("method", lambda s: s.method)
RANK: Field[Standing] = number("rank", lambda s: Cell(s.rank, numbers.rank(s.rank)))
BETTER, WORSE = _counted("better"), _counted("worse")

FIRST: Field[PairAcross] = words("method", lambda pair: pair.method)
AGAINST: Field[PairAcross] = words("against", lambda pair: pair.against)
AHEAD: Field[PairAcross] = words("ahead", lambda pair: pair.ahead)
AHEAD_OR_NEITHER: Field[PairAcross] = words("ahead", lambda pair: pair.ahead or "neither")
P: Field[PairAcross] = number("p", lambda pair: Cell(pair.p, p_value(pair.p)))
P_HOLM: Field[PairAcross] = number("p_holm", lambda pair: Cell(pair.p_holm, p_value(pair.p_holm)))
TOLD_APART: Field[PairAcross] = Field(Column("told apart"), lambda pair: _told_apart(pair))


def methods_table(comparison: Comparison) -> Table:
    """One line per method over all rows, in few columns."""
    active = {method: _active(comparison, method) for method in comparison.methods}
    fields: tuple[Field[Standing], ...] = (
        METHOD,
        number("best", lambda s: Cell(s.bests, f"{s.bests}/{s.rows}")),
        number("win/tie/loss", _against_plain),
        *(BETTER, WORSE, RANK),
        number("active", lambda s: Cell(active[s.method], numbers.share(active[s.method]))),
        number("trials", _of_asked),
        *spent(lambda s: s.budget)[1:4],
        number("seconds", lambda s: Cell(s.budget.seconds, numbers.count(s.budget.seconds))),
    )
    title = "Methods over all rows, and the budget of each"
    found = comparison.standings
    return table_of("methods", title, fields, found, 1, _STANDINGS_NOTE, media=(PRINT,))


def _of_asked(standing: Standing) -> Cell:
    trials, asked = standing.budget.trials, standing.budget.asked
    return Cell(trials, f"{trials:,}/{asked:,}")


def _against_plain(standing: Standing) -> Cell:
    shown = f"{standing.wins}/{standing.ties}/{standing.losses}"
    return Cell(standing.wins, shown) if _is_compared(standing) else Cell()


def _active(comparison: Comparison, method: str) -> float | None:
    """Mean over the rows of the share of epochs in which the penalty had a gradient."""
    scores = (score for score in comparison.scores if score.method == method)
    found = [score.penalty_active for score in scores if score.penalty_active is not None]
    return fmean(found) if found else None


def standings_table(comparison: Comparison) -> Table:
    """The same with every count in a column of its own."""
    fields: tuple[Field[Standing], ...] = (
        *(METHOD, RANK, count("rows", lambda s: s.rows), count("best", lambda s: s.bests)),
        *(*map(_counted, ("wins", "ties", "losses")), BETTER, WORSE),
        *spent(lambda s: s.budget),
    )
    return table_of(
        *("standings", "Methods", fields, comparison.standings, 1),
        "Methods over all rows: means, verdicts, and the budget each one had.",
        helps=_STANDINGS_HELP,
        optional=(),
        media=(PAGE,),
    )


def ranks_table(comparison: Comparison) -> Table:
    """Average ranks over distinct graphs, the best first."""
    across = comparison.across
    test = "" if across.friedman is None else f"; Friedman: {probability(across.friedman)}"
    title = f"Average ranks over {len(across.graphs)} distinct graphs{test}"
    ranked = sorted(zip(across.ranks, across.methods, strict=True))
    fields: tuple[Field[tuple[float, str]], ...] = (
        words("method", lambda pair: pair[1]),
        number("rank", lambda pair: Cell(pair[0], numbers.rank(pair[0]))),
    )
    return table_of("ranks", title, fields, ranked, media=(PRINT,))


def planned_tests_table(comparison: Comparison) -> Table:
    """Planned comparisons over distinct graphs; all pairs would fill pages."""
    title = "Planned comparisons over these graphs (Wilcoxon, corrected by Holm)"
    fields, found = (FIRST, AGAINST, P, P_HOLM, AHEAD), _planned(comparison)
    note = "ahead: which of both the signed ranks speak for."
    return table_of("planned-tests", title, fields, found, 2, note, optional=(), media=(PRINT,))


def planned_table(comparison: Comparison) -> Table:
    """Each regularizer with its backbone, clar with each rival."""
    what = (
        "Planned comparisons: each regularizer with its plain backbone, clar with each other "
        "regularizer. Wilcoxon's signed ranks over distinct graphs, corrected by Holm among them."
    )
    return _across("planned", what, _planned(comparison), len(comparison.across.graphs))


def pairs_table(comparison: Comparison) -> Table:
    """All pairs of methods, which the diagram of ranks is about."""
    what = "All pairs of methods. The same test, corrected by Holm over all of them."
    return _across("pairs", what, comparison.across.pairs, len(comparison.across.graphs))


def _planned(comparison: Comparison) -> list[PairAcross]:
    return sorted(comparison.across.planned, key=lambda pair: (pair.p_holm, pair.p))


def _across(ident: str, what: str, pairs: Sequence[PairAcross], graphs: int) -> Table:
    note = f"{what} {out_of_reach(pairs, graphs)}".strip()
    fields = (FIRST, AGAINST, AHEAD_OR_NEITHER, P, P_HOLM, TOLD_APART)
    return table_of(
        *(ident, "Across graphs", fields, pairs, 2, note),
        helps=_ACROSS_HELP,
        optional=(),
        media=(PAGE,),
    )


def out_of_reach(pairs: Sequence[PairAcross], graphs: int) -> str:
    """What to say of so many pairs that Holm's correction cannot find the clearest difference."""
    least = least_p(graphs) * len(pairs)
    if least < LEVEL:
        return ""
    return (
        f"None of these {len(pairs)} pairs could be told apart: over {graphs} graphs "
        f"the least p_holm of so many is {min(least, 1.0):.2g}."
    )


def _told_apart(pair: PairAcross) -> Cell:
    if pair.p_holm >= LEVEL or not pair.ahead:
        return signed_verdict("undecided", "no")
    return signed_verdict("better" if pair.ahead == pair.method else "worse")
