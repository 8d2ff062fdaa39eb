"""Winners side by side: backbones against one of them, values of a key against one of them."""

from collections.abc import Sequence

from clar_tune.analysis import Comparison, Contrast, margin_of
from clar_tune.report.blocks import PAGE, PRINT, Cell, Column, Table
from clar_tune.report.builders.fields import Field, count, number, table_of, words
from clar_tune.report.builders.penalty_effects import verdict_cell
from clar_tune.report.numbers import gain, in_percent, p_value, size
from clar_tune.report.texts import place

BESIDE = "winners side by side"


def backbones_table(comparison: Comparison) -> Table:
    """Plain winners against the baseline: a description, with one search."""
    title = f"Backbones against {comparison.baseline}, {BESIDE}"
    return _table("backbones", title, comparison, comparison.backbones)


def values_table(comparison: Comparison) -> Table:
    """Winners under each value of a key of conditions against those under its baseline."""
    against = " and ".join(dict.fromkeys(contrast.against for contrast in comparison.values))
    return _table("values", f"Against {against}, {BESIDE}", comparison, comparison.values)


def _table(ident: str, title: str, comparison: Comparison, found: Sequence[Contrast]) -> Table:
    metrics = {(row.graph, row.condition): row.metric for row in comparison.rows}

    def gained(contrast: Contrast) -> Cell:
        metric = metrics[contrast.graph, contrast.condition]
        half = size(contrast.half_width, metric)
        return Cell(contrast.gain, gain(contrast.gain, metric), half=half)

    def judged(contrast: Contrast) -> Cell:
        percent = in_percent(metrics[contrast.graph, contrast.condition])
        limit = margin_of(comparison.margin) if percent else "margin"
        small = f"(< {limit})" * contrast.small
        return Cell() if contrast.verdict == "none" else verdict_cell(contrast.verdict, small)

    fields: tuple[Field[Contrast], ...] = (
        Field(Column("graph"), lambda c: Cell(c.graph, place(c.graph, c.condition))),
        words("method", lambda c: c.method),
        words("against", lambda c: c.against),
        number("gain", gained),
        number("p", lambda c: Cell(c.p, p_value(c.p))),
        number("p_holm", lambda c: Cell(c.p_holm, p_value(c.p_holm))),
        Field(Column("verdict"), judged),
        count("pairs", lambda c: c.units),
        count("needed", lambda c: c.needed, "Pairs that would decide it, about"),
    )
    return table_of(ident, title, fields, found, 2, grouped=True, media=(PRINT, PAGE))
