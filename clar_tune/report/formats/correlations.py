"""The tables of correlations, which stand above the scores that they are made of."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis import Comparison, Correlation
from clar_tune.report.formats import numbers
from clar_tune.report.formats.parts import Cells, Part, without_empty_columns
from clar_tune.report.formats.texts import name, place

_PEARSON_NOTE = (
    "cells: conditions that have both values; same: those with the very same trainings; "
    "without: the coefficient without these. difference: second value less first, over all cells."
)


def correlation_parts(comparison: Comparison) -> Iterator[Part]:
    """One table for each kind of coefficient."""
    spearman = [c for c in comparison.correlations if c.kind == "spearman"]
    pearson = [c for c in comparison.correlations if c.kind == "pearson"]
    if spearman:
        yield _part(
            f"Spearman's coefficient of {name(spearman[0].key)} and the score",
            ("graph", "method", "rho", "95 % interval", "paper", "pairs", "finals"),
            2,
            [_spearman_line(found) for found in spearman],
        )
    if pearson:
        yield _part(
            f"Pearson's coefficient of the scores under two values of {name(pearson[0].key)}",
            (
                *("graph", "method", "values", "r", "95 % interval", "paper", "cells"),
                *("same", "without", "difference"),
            ),
            3,
            [_pearson_line(found) for found in pearson],
            _PEARSON_NOTE,
        )


def _part(title: str, columns: Cells, names: int, lines: Sequence[Cells], note: str = "") -> Part:
    grouped = len({line[0] for line in lines}) < len(lines)
    return without_empty_columns(Part(title, columns, names, tuple(lines), note, grouped))


def _spearman_line(found: Correlation) -> Cells:
    return (
        place(found.graph, found.condition),
        name(found.method),
        *_coefficient(found),
        numbers.count(found.pairs),
        numbers.count(found.units),
    )


def _pearson_line(found: Correlation) -> Cells:
    half = "" if found.gap_half is None else f" ± {numbers.size(found.gap_half, found.metric)}"
    return (
        name(found.graph),
        name(found.method),
        ", ".join(map(name, found.values)),
        *_coefficient(found),
        numbers.count(found.pairs),
        numbers.count(found.identical) if found.identical else "",
        numbers.coefficient(found.apart),
        "" if found.gap is None else numbers.gain(found.gap, found.metric) + half,
    )


def _coefficient(found: Correlation) -> Cells:
    return (
        numbers.coefficient(found.coefficient) or "none",
        numbers.interval(found.low, found.high),
        numbers.coefficient(found.paper),
    )
