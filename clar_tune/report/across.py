"""Pairs of methods over distinct graphs: those that were planned, and all of them."""

from collections.abc import Sequence

from clar_tune.analysis import LEVEL, Comparison, PairAcross
from clar_tune.report.cells import Column, Line, Table, numeric, table, text
from clar_tune.report.figures.ranks import out_of_reach
from clar_tune.report.formats import numbers
from clar_tune.report.matrix import MARKS

_COLUMNS = (
    *(Column("method"), Column("against")),
    Column("ahead", False, "Which of both the signed ranks speak for"),
    Column("p", True, "Wilcoxon's signed ranks, two-sided"),
    Column("p_holm", True, "Corrected by Holm over the pairs of this table"),
    Column("told apart", False, "From p_holm < 0.05: how the method stands to the other"),
)


def planned_table(comparison: Comparison) -> Table:
    """Each regularizer with its backbone, clar with each rival."""
    pairs = sorted(comparison.across.planned, key=lambda pair: (pair.p_holm, pair.p))
    what = (
        "Planned comparisons: each regularizer with its plain backbone, clar with each other "
        "regularizer. Wilcoxon's signed ranks over distinct graphs, corrected by Holm among them."
    )
    return _table("planned", what, pairs, comparison)


def pairs_table(comparison: Comparison) -> Table:
    """All pairs of methods, which the diagram of ranks is about."""
    what = "All pairs of methods. The same test, corrected by Holm over all of them."
    return _table("pairs", what, comparison.across.pairs, comparison)


def _table(ident: str, what: str, pairs: Sequence[PairAcross], comparison: Comparison) -> Table:
    note = out_of_reach(pairs, comparison.across)
    return table(ident, f"{what} {note}".strip(), _COLUMNS, map(_line, pairs), heads=2)


def _line(pair: PairAcross) -> Line:
    verdict = _verdict(pair)
    cells = (
        *(text(pair.method), text(pair.against), text(pair.ahead or "neither")),
        *(numeric(numbers.p_value(p), p) for p in (pair.p, pair.p_holm)),
        text(f"{MARKS[verdict]} {'no' if verdict == 'undecided' else verdict}", verdict),
    )
    return Line(cells, method=pair.method)


def _verdict(pair: PairAcross) -> str:
    if pair.p_holm >= LEVEL or not pair.ahead:
        return "undecided"
    return "better" if pair.ahead == pair.method else "worse"
