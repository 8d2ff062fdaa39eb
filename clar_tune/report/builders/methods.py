"""Methods over all rows, and over distinct graphs."""

from collections.abc import Sequence
from statistics import fmean

from clar_tune.analysis import (
    LEVEL,
    Across,
    Comparison,
    PairAcross,
    Standing,
    least_p,
    probability,
)
from clar_tune.report import numbers
from clar_tune.report.builders.effects import signed_verdict
from clar_tune.report.builders.fields import Field, count, number, spent, table_of, told, words
from clar_tune.report.document import PAGE, PRINT, Column, Table

_STANDINGS_NOTE = (
    "best: rows with the best mean, of all. win/tie/loss: rows with a higher, equal or lower mean "
    "than the plain backbone; better, worse: those with such a verdict. rank: average over the "
    "rows that all methods have, 1 is best. trials: done/asked. repeats: trainings of the search. "
    "seconds: the search and the finals of its winner."
)

StandingField = Field[Standing]
PairField = Field[PairAcross]


def _counted(field: str, help: str) -> StandingField:
    """A count against the plain backbone, which a plain backbone does not have."""
    return count(field, lambda s: getattr(s, field) if _is_compared(s) else None, help)


def _is_compared(standing: Standing) -> bool:
    return bool(standing.wins + standing.ties + standing.losses)


METHOD: StandingField = words("method", lambda s: s.method)
RANK: StandingField = number(
    "rank",
    lambda s: s.rank,
    numbers.rank,
    "Average over the rows that all methods have; 1 is best",
)
BETTER = _counted("better", "Rows with this verdict")
WORSE = _counted("worse", "Rows with this verdict")

FIRST: PairField = words("method", lambda pair: pair.method)
AGAINST: PairField = words("against", lambda pair: pair.against)
AHEAD: PairField = words("ahead", lambda pair: pair.ahead)
AHEAD_OR_NEITHER: PairField = words(
    "ahead", lambda pair: pair.ahead or "neither", "Which of both the signed ranks speak for"
)
P: PairField = number(
    "p", lambda pair: pair.p, numbers.p_value, "Wilcoxon's signed ranks, two-sided"
)
P_HOLM: PairField = number(
    "p_holm",
    lambda pair: pair.p_holm,
    numbers.p_value,
    "Corrected by Holm over the pairs of this table",
)
TOLD_APART: PairField = Field(
    Column("told apart", False, "From p_holm < 0.05: how the method stands to the other"),
    lambda pair: signed_verdict(_verdict(pair), "no" if _verdict(pair) == "undecided" else ""),
)
_ACROSS = (FIRST, AGAINST, AHEAD_OR_NEITHER, P, P_HOLM, TOLD_APART)


def methods_table(comparison: Comparison) -> Table:
    """One line per method over all rows, in few columns."""
    active = {method: _active(comparison, method) for method in comparison.methods}
    fields: tuple[StandingField, ...] = (
        METHOD,
        told("best", lambda s: s.bests, lambda s: f"{s.bests}/{s.rows}"),
        told("win/tie/loss", lambda s: s.wins, _against_plain),
        *(BETTER, WORSE, RANK),
        number("active", lambda s: active[s.method], numbers.share),
        told("trials", lambda s: s.budget.trials, _trials),
        count("failed", lambda s: s.budget.failed),
        count("repeats", lambda s: s.budget.repeats),
        count("finals", lambda s: s.budget.finals),
        number("seconds", lambda s: s.budget.seconds, numbers.count),
    )
    return table_of(
        *("methods", "Methods over all rows, and the budget of each"),
        *(fields, comparison.standings),
        note=_STANDINGS_NOTE,
        media=(PRINT,),
    )


def _against_plain(standing: Standing) -> str:
    if not _is_compared(standing):
        return ""
    return f"{standing.wins}/{standing.ties}/{standing.losses}"


def _trials(standing: Standing) -> str:
    return f"{numbers.count(standing.budget.trials)}/{numbers.count(standing.budget.asked)}"


def _active(comparison: Comparison, method: str) -> float | None:
    """Mean over the rows of the share of epochs in which the penalty had a gradient."""
    scores = (score for score in comparison.scores if score.method == method)
    found = [score.penalty_active for score in scores if score.penalty_active is not None]
    return fmean(found) if found else None


def standings_table(comparison: Comparison) -> Table:
    """The same with every count in a column of its own."""
    return table_of(
        "standings",
        "Methods",
        (
            *(METHOD, RANK),
            count("rows", lambda s: s.rows, "Graphs and conditions with finals"),
            count("best", lambda s: s.bests, "Rows in which no method has a better mean"),
            _counted("wins", "Better mean than the plain backbone"),
            _counted("ties", "Equal mean, as printed"),
            _counted("losses", "Worse mean than the plain backbone"),
            *(BETTER, WORSE, *spent(lambda s: s.budget)),
        ),
        comparison.standings,
        note="Methods over all rows: means, verdicts, and the budget each one had.",
        optional=(),
        line=lambda standing: {"method": standing.method},
        media=(PAGE,),
    )


def ranks_table(comparison: Comparison) -> Table:
    """Average ranks over distinct graphs, the best first."""
    across = comparison.across
    test = "" if across.friedman is None else f"; Friedman: {probability(across.friedman)}"
    return table_of(
        "ranks",
        f"Average ranks over {len(across.graphs)} distinct graphs{test}",
        (
            words("method", lambda pair: pair[1]),
            number("rank", lambda pair: pair[0], numbers.rank),
        ),
        sorted(zip(across.ranks, across.methods, strict=True)),
        media=(PRINT,),
    )


def planned_tests_table(comparison: Comparison) -> Table:
    """Planned comparisons over distinct graphs; all pairs would fill pages."""
    return table_of(
        "planned-tests",
        "Planned comparisons over these graphs (Wilcoxon, corrected by Holm)",
        (FIRST, AGAINST, P, P_HOLM, AHEAD),
        _planned(comparison),
        heads=2,
        note="ahead: which of both the signed ranks speak for.",
        optional=(),
        media=(PRINT,),
    )


def planned_table(comparison: Comparison) -> Table:
    """Each regularizer with its backbone, clar with each rival."""
    what = (
        "Planned comparisons: each regularizer with its plain backbone, clar with each other "
        "regularizer. Wilcoxon's signed ranks over distinct graphs, corrected by Holm among them."
    )
    return _across("planned", what, _planned(comparison), comparison)


def pairs_table(comparison: Comparison) -> Table:
    """All pairs of methods, which the diagram of ranks is about."""
    what = "All pairs of methods. The same test, corrected by Holm over all of them."
    return _across("pairs", what, comparison.across.pairs, comparison)


def _planned(comparison: Comparison) -> list[PairAcross]:
    return sorted(comparison.across.planned, key=lambda pair: (pair.p_holm, pair.p))


def _across(ident: str, what: str, pairs: Sequence[PairAcross], comparison: Comparison) -> Table:
    return table_of(
        *(ident, "Across graphs", _ACROSS, pairs),
        heads=2,
        note=f"{what} {out_of_reach(pairs, comparison.across)}".strip(),
        optional=(),
        line=lambda pair: {"method": pair.method},
        media=(PAGE,),
    )


def out_of_reach(pairs: Sequence[PairAcross], across: Across) -> str:
    """What to say of so many pairs that Holm's correction cannot find the clearest difference."""
    least = least_p(len(across.graphs)) * len(pairs)
    if least < LEVEL:
        return ""
    return (
        f"None of these {len(pairs)} pairs could be told apart: over {len(across.graphs)} graphs "
        f"the least p_holm of so many is {min(least, 1.0):.2g}."
    )


def _verdict(pair: PairAcross) -> str:
    if pair.p_holm >= LEVEL or not pair.ahead:
        return "undecided"
    return "better" if pair.ahead == pair.method else "worse"
