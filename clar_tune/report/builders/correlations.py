"""Correlations: how scores go with a key, or agree under two of its values."""

from clar_tune.analysis import Comparison, Correlation
from clar_tune.report import numbers
from clar_tune.report.blocks import PAGE, PRINT, Cell, Column, Table
from clar_tune.report.builders.fields import Field, count, number, table_of, words
from clar_tune.report.numbers import coefficient
from clar_tune.report.texts import name, place

Of = Field[Correlation]

GRAPH: Of = words("graph", lambda c: c.graph)
PLACE: Of = Field(Column("graph"), lambda c: Cell(c.graph, place(c.graph, c.condition)))
CONDITION: Of = words("condition", lambda c: c.condition)
METHOD: Of = words("method", lambda c: c.method)
KIND: Of = words("coefficient", lambda c: c.kind)
SUBJECT: Of = words("of", lambda c: _subject(c))
VALUES: Of = Field(Column("values"), lambda c: Cell(c.values, ", ".join(map(name, c.values))))
VALUE: Of = number("value", lambda c: Cell(c.coefficient, coefficient(c.coefficient) or "none"))
INTERVAL: Of = number("95 % interval", lambda c: Cell(c.low, numbers.interval(c.low, c.high)))
LOW: Of = number("from", lambda c: Cell(c.low, coefficient(c.low)))
HIGH: Of = number("to", lambda c: Cell(c.high, coefficient(c.high)))
PAPER: Of = number("paper", lambda c: Cell(c.paper, coefficient(c.paper)))
PAIRS: Of = count("pairs", lambda c: c.pairs)
FINALS: Of = count("finals", lambda c: c.units)
IDENTICAL: Of = count("identical", lambda c: c.identical or None)
WITHOUT: Of = number("without", lambda c: Cell(c.apart, coefficient(c.apart)))
GAP: Of = number("difference", lambda c: Cell(c.gap, numbers.signed(c.gap, c.metric)))
GAP_HALF: Of = number("± difference", lambda c: Cell(c.gap_half, _half(c)))
GAP_WITH_HALF: Of = number(
    "difference", lambda c: Cell(c.gap, numbers.gain(c.gap, c.metric), half=_half(c))
)
HELP = {
    "of": "What the coefficient is taken of",
    "value": "None where scores do not vary",
    "from": "Low end of the 95 % interval",
    "to": "Its high end",
    "paper": "What the paper prints",
    "pairs": "Pairs of numbers that it is taken over",
    "finals": "Splits or seeds behind every number",
    "identical": "Cells with the very same trainings under both values",
    "without": "The coefficient without the identical cells",
    "difference": "Mean score under the second value less that under the first",
    "± difference": "Half the width of its 95 % interval",
}


def _subject(found: Correlation) -> str:
    if found.kind == "pearson":
        return f"{found.key}: {' and '.join(found.values)}"
    return f"{found.key} and score"


def _half(found: Correlation) -> str:
    return numbers.size(found.gap_half, found.metric)


def spearman_table(comparison: Comparison) -> Table:
    """How scores go with the values of a key."""
    found = [c for c in comparison.correlations if c.kind == "spearman"]
    title = f"Spearman's coefficient of {_key(found)} and the score"
    fields = (PLACE, METHOD, VALUE.but(title="rho"), INTERVAL, PAPER, PAIRS, FINALS)
    return table_of("spearman", title, fields, found, 2, grouped=True, media=(PRINT,))


def pearson_table(comparison: Comparison) -> Table:
    """How scores agree under two values of a key."""
    found = [c for c in comparison.correlations if c.kind == "pearson"]
    title = f"Pearson's coefficient of the scores under two values of {_key(found)}"
    cells, same = PAIRS.but(title="cells"), IDENTICAL.but(title="same")
    values = (VALUES, VALUE.but(title="r"), INTERVAL, PAPER, cells, same, WITHOUT, GAP_WITH_HALF)
    note = (
        "cells: conditions that have both values; same: those with the very same trainings; "
        "without: the coefficient without these. difference: second value less first, over all "
        "cells."
    )
    fields = (GRAPH, METHOD, *values)
    return table_of("pearson", title, fields, found, 3, note, grouped=True, media=(PRINT,))


def _key(found: list[Correlation]) -> str:
    return name(found[0].key) if found else ""


def coefficients_table(comparison: Comparison) -> Table:
    """One line per coefficient of either kind."""
    numeric = (VALUE, LOW, HIGH, PAPER, PAIRS, FINALS, IDENTICAL, WITHOUT, GAP, GAP_HALF)
    return table_of(
        *("coefficients", "Correlations", (GRAPH, CONDITION, METHOD, KIND, SUBJECT, *numeric)),
        *(comparison.correlations, 5),
        "Spearman: the values of a key and the scores under them. Pearson: the mean scores of all "
        "cells under two values of it. Intervals are of 95 %.",
        helps=HELP,
        optional=("condition", "paper", "identical", "without", "difference", "± difference"),
        line=lambda found: {"graph": found.graph},
        media=(PAGE,),
    )
