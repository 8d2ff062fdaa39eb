"""The table of correlations: how scores go with a key, or agree under two of its values."""

from clar_tune.analysis import Comparison, Correlation
from clar_tune.report import words
from clar_tune.report.cells import Column, Line, Table, numeric, table, text, whole
from clar_tune.report.formats import numbers

_COLUMNS = (
    *(Column("graph"), Column("condition"), Column("method"), Column("coefficient")),
    Column("of", False, "What the coefficient is taken of"),
    Column("value", True, "None where scores do not vary"),
    *(Column("from", True, "Low end of the 95 % interval"), Column("to", True, "Its high end")),
    Column("paper", True, "What the paper prints"),
    Column("pairs", True, "Pairs of numbers that it is taken over"),
    Column("finals", True, "Splits or seeds behind every number"),
    Column("identical", True, "Cells with the very same trainings under both values"),
    Column("without", True, "The coefficient without the identical cells"),
    Column("difference", True, "Mean score under the second value less that under the first"),
    Column("± difference", True, "Half the width of its 95 % interval"),
)
_OPTIONAL = ("condition", "paper", "identical", "without", "difference", "± difference")


def coefficients_table(comparison: Comparison) -> Table:
    """One line per coefficient."""
    return table(
        "coefficients",
        "Spearman: the values of a key and the scores under them. Pearson: the mean scores of all "
        "cells under two values of it. Intervals are of 95 %.",
        _COLUMNS,
        map(_line, comparison.correlations),
        heads=5,
        optional=_OPTIONAL,
    )


def _line(found: Correlation) -> Line:
    gap, half = found.gap, found.gap_half
    both = found.kind == "pearson"
    cells = (
        *(text(found.graph), text(found.condition), text(found.method), text(found.kind)),
        text(f"{found.key}: {' and '.join(found.values)}" if both else f"{found.key} and score"),
        numeric(numbers.coefficient(found.coefficient) or "none", found.coefficient),
        *(numeric(numbers.coefficient(end), end) for end in (found.low, found.high)),
        numeric(numbers.coefficient(found.paper), found.paper),
        *(whole(found.pairs), whole(found.units)),
        numeric(f"{found.identical:,}" if found.identical else "", found.identical or None),
        numeric(numbers.coefficient(found.apart), found.apart),
        numeric("" if gap is None else words.gain(gap, found.metric), gap),
        numeric(words.size(half, found.metric), half),
    )
    return Line(cells, found.graph)
