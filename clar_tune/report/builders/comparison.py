"""A comparison as a document: which tables it has, and in which order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clar_tune.analysis import CHAMPION, Comparison, ShiftPart, counted, shift_part_of
from clar_tune.records import to_stored
from clar_tune.report import blocks
from clar_tune.report.blocks import Block, Document, Headline, Prose, Table
from clar_tune.report.builders import correlations, effects, methods, penalty_effects
from clar_tune.report.builders.flat import flat_of, origin_of
from clar_tune.report.builders.matrix import matrix_of
from clar_tune.report.texts import name, sentence

TABLES: tuple[Callable[[Comparison], Table | blocks.Matrix], ...] = (
    *(correlations.spearman_table, correlations.pearson_table, correlations.coefficients_table),
    *(matrix_of, penalty_effects.effects_table, penalty_effects.over_graphs_table),
    *(effects.gains_table, effects.gains_over_rivals_table, penalty_effects.backbones_table),
    *(penalty_effects.effects_page_table, methods.methods_table),
    *(effects.searches_table, effects.scores_table, effects.rivals_table),
    *(effects.tallies_table, methods.standings_table),
)
"""All tables in their order; one without lines is shown nowhere."""
ACROSS = (
    *(methods.ranks_table, methods.planned_tests_table),
    *(methods.planned_table, methods.pairs_table),
)
"""The same for tests over distinct graphs; without any test the conclusions say why."""


def document_of(
    comparison: Comparison, figures: Sequence[blocks.Figure] = (), *, explain: bool = True
) -> Document:
    """All that a comparison says: the same blocks for every format.

    Without ``explain`` print has the answer and its numbers, and not how to read them.
    """
    return Document(
        blocks=(*_blocks(comparison, explain=explain), *figures),
        stored=to_stored(comparison),
        flat=flat_of(comparison),
        origin=origin_of(comparison),
    )


def documents_of(
    comparisons: Sequence[Comparison], *, explain: bool = True, apart: bool = False
) -> list[Document]:
    """All comparisons; before two whose runs differ in their splits, how far effects do."""
    documents = [document_of(comparison, explain=explain) for comparison in comparisons]
    parts = shift_part_of(*comparisons) if apart and len(comparisons) == 2 else []
    return [_shift_document(comparisons, parts), *documents] if parts else documents


def _shift_document(comparisons: Sequence[Comparison], parts: list[ShiftPart]) -> Document:
    """How far effects differ between two runs."""
    runs = [run for comparison in comparisons for run in comparison.runs]
    headline = _shift_headline(parts)
    records = [{"record": "shift_part", **to_stored(part)} for part in parts]
    return Document(
        (
            Headline(headline, " and ".join(map(name, runs))),
            penalty_effects.shift_part_table(parts),
        ),
        stored={"runs": runs, "headline": headline, "cells": [to_stored(part) for part in parts]},
        flat=_flat(records),
        origin={"runs": " ".join(runs)},
        ident="shift_parts",
    )


def _shift_headline(parts: Sequence[ShiftPart]) -> str:
    """Of clar, or of the first regularizer."""
    names = [part.regularizer for part in parts]
    first = CHAMPION if CHAMPION in names else names[0]
    own = [part for part in parts if part.regularizer == first]
    larger, smaller = (
        sum(sign * part.difference > (part.half or 0.0) for part in own) for sign in (1, -1)
    )
    floors = sum("at the floor" in part.verdicts for part in own)
    told = f" ({floors} of them at the floor in a run)" if floors else ""
    one, other = parts[0].protocols
    changed = sum(not part.same for part in own)
    where = f" in {counted(changed, 'cell')}" * (changed < len(own))
    same = " of the same configurations" * (not changed)
    many = f"{larger or 'none'} and smaller in {smaller or 'none'} of {counted(len(own), 'cell')}"
    too = f", where configurations differ too{where}" * bool(changed)
    return (
        f"{first.upper()}: the effect{same} on {one} less that on {other}{too}: "
        f"larger on {one} in {many}{told}, by unadjusted 95 % intervals"
    )


def _flat(records: Sequence[Mapping[str, Any]]) -> Table:
    lists = [
        {key: " ".join(v) if isinstance(v, list) else v for key, v in record.items()}
        for record in records
    ]
    return Table(
        ident="records",
        title="Records",
        columns=tuple(map(blocks.Column, lists[0])),
        lines=tuple(blocks.Line(tuple(map(blocks.Cell, record.values()))) for record in lists),
    )


def _blocks(comparison: Comparison, *, explain: bool) -> Iterator[Block]:
    runs = ", ".join(map(name, comparison.runs))
    medium = blocks.EVERYWHERE if comparison.scores else (blocks.PAGE,)
    said, more = (
        tuple(map(sentence, texts)) for texts in (comparison.conclusions, comparison.remarks)
    )
    if comparison.scores:
        yield Headline(sentence(comparison.headline), f"{runs}: {_what(comparison)}")
    else:
        yield Prose((f"{runs}: no winner has finals yet.",), media=(blocks.PRINT,))
    yield Prose(said, "What can be concluded, and what cannot", "conclusions", medium)
    if comparison.scores:
        for build in TABLES if comparison.across.reason else (*TABLES, *ACROSS):
            table = build(comparison)
            if isinstance(table, Table) and table.media == (blocks.PRINT,) and not explain:
                table = replace(table, note="")
            yield table
        yield from _explained(comparison, more, explain=explain)


def _explained(comparison: Comparison, more: tuple[str, ...], *, explain: bool) -> Iterator[Block]:
    """Remarks and legend; print may have a pointer to them instead."""
    legend = tuple(map(sentence, comparison.caption))
    media = tuple(m for m in blocks.EVERYWHERE if explain or m != blocks.PRINT)
    if more:
        yield Prose(more, "What else is to be known", "remarks", media)
    yield Prose(legend, "How to read it", "legend", media)
    if not explain:
        told = (
            f"{len(more)} more remarks and " if len(more) > 1 else "1 more remark and " * len(more)
        )
        yield Prose((f"--explain prints {told}how to read these numbers.",), media=(blocks.PRINT,))


def _what(comparison: Comparison) -> str:
    table = comparison.paper_table
    beside = f", beside Table {name(table)} of the paper" if table else ""
    new_data = comparison.interval == "nadeau-bengio"
    wider = "; intervals for new data (Nadeau and Bengio)" if new_data else ""
    return f"{name(comparison.space)}, {name(comparison.settings)} settings{beside}{wider}"
