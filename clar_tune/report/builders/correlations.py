"""Correlations: how scores go with a key, or agree under two of its values."""

from clar_tune.analysis import Comparison, Correlation
from clar_tune.report import numbers
from clar_tune.report.builders.fields import Field, count, number, table_of, words
from clar_tune.report.document import PAGE, PRINT, Cell, Column, Table
from clar_tune.report.texts import name, place

_PEARSON_NOTE = (
    "cells: conditions that have both values; same: those with the very same trainings; "
    "without: the coefficient without these. difference: second value less first, over all cells."
)

CorrelationField = Field[Correlation]

GRAPH: CorrelationField = words("graph", lambda c: c.graph)
METHOD: CorrelationField = words("method", lambda c: c.method)
PLACE: CorrelationField = Field(
    Column("graph"), lambda c: Cell(c.graph, place(c.graph, c.condition))
)
VALUES: CorrelationField = Field(
    Column("values"), lambda c: Cell(c.values, ", ".join(map(name, c.values)))
)
COEFFICIENT: CorrelationField = number(
    "value",
    lambda c: c.coefficient,
    lambda found: numbers.coefficient(found) or "none",
    "None where scores do not vary",
)
INTERVAL: CorrelationField = Field(
    Column("95 % interval", True), lambda c: Cell(c.low, numbers.interval(c.low, c.high))
)
LOW: CorrelationField = number(
    "from", lambda c: c.low, numbers.coefficient, "Low end of the 95 % interval"
)
HIGH: CorrelationField = number("to", lambda c: c.high, numbers.coefficient, "Its high end")
PAPER: CorrelationField = number(
    "paper", lambda c: c.paper, numbers.coefficient, "What the paper prints"
)
PAIRS: CorrelationField = count(
    "pairs", lambda c: c.pairs, "Pairs of numbers that it is taken over"
)
FINALS: CorrelationField = count(
    "finals", lambda c: c.units, "Splits or seeds behind every number"
)
IDENTICAL: CorrelationField = count(
    "identical",
    lambda c: c.identical or None,
    "Cells with the very same trainings under both values",
)
WITHOUT: CorrelationField = number(
    "without",
    lambda c: c.apart,
    numbers.coefficient,
    "The coefficient without the identical cells",
)
GAP: CorrelationField = Field(
    Column("difference", True, "Mean score under the second value less that under the first"),
    lambda c: Cell(c.gap, numbers.signed(c.gap, c.metric)),
)
GAP_HALF: CorrelationField = Field(
    Column("± difference", True, "Half the width of its 95 % interval"),
    lambda c: Cell(c.gap_half, numbers.size(c.gap_half, c.metric)),
)
GAP_WITH_HALF: CorrelationField = Field(
    Column("difference", True),
    lambda c: Cell(
        c.gap,
        numbers.between(numbers.gain(c.gap, c.metric), numbers.size(c.gap_half, c.metric)),
    ),
)
SUBJECT: CorrelationField = words(
    "of",
    lambda c: (
        f"{c.key}: {' and '.join(c.values)}" if c.kind == "pearson" else f"{c.key} and score"
    ),
    "What the coefficient is taken of",
)


def spearman_table(comparison: Comparison) -> Table:
    """How scores go with the values of a key."""
    found = [c for c in comparison.correlations if c.kind == "spearman"]
    key = name(found[0].key) if found else "a key"
    return table_of(
        "spearman",
        f"Spearman's coefficient of {key} and the score",
        (PLACE, METHOD, COEFFICIENT.named("rho"), INTERVAL, PAPER, PAIRS, FINALS),
        found,
        heads=2,
        grouped=True,
        line=_line,
        media=(PRINT,),
    )


def pearson_table(comparison: Comparison) -> Table:
    """How scores agree under two values of a key."""
    found = [c for c in comparison.correlations if c.kind == "pearson"]
    key = name(found[0].key) if found else "a key"
    return table_of(
        "pearson",
        f"Pearson's coefficient of the scores under two values of {key}",
        (
            *(GRAPH, METHOD, VALUES, COEFFICIENT.named("r"), INTERVAL, PAPER),
            *(PAIRS.named("cells"), IDENTICAL.named("same"), WITHOUT, GAP_WITH_HALF),
        ),
        found,
        heads=3,
        note=_PEARSON_NOTE,
        grouped=True,
        line=_line,
        media=(PRINT,),
    )


def coefficients_table(comparison: Comparison) -> Table:
    """One line per coefficient of either kind."""
    return table_of(
        "coefficients",
        "Correlations",
        (
            *(GRAPH, words("condition", lambda c: c.condition), METHOD),
            *(words("coefficient", lambda c: c.kind), SUBJECT, COEFFICIENT, LOW, HIGH, PAPER),
            *(PAIRS, FINALS, IDENTICAL, WITHOUT, GAP, GAP_HALF),
        ),
        comparison.correlations,
        heads=5,
        note="Spearman: the values of a key and the scores under them. Pearson: the mean scores "
        "of all cells under two values of it. Intervals are of 95 %.",
        optional=("condition", "paper", "identical", "without", "difference", "± difference"),
        line=_line,
        media=(PAGE,),
    )


def _line(correlation: Correlation) -> dict[str, str]:
    return {"graph": correlation.graph}
