"""A comparison as a document: which tables it has, and in which order."""

from collections.abc import Callable, Iterator, Sequence

from clar_tune.analysis import Comparison
from clar_tune.records import to_stored
from clar_tune.report import blocks
from clar_tune.report.blocks import Block, Document, Headline, Prose, Table
from clar_tune.report.builders import correlations, effects, methods
from clar_tune.report.builders.flat import flat_of, origin_of
from clar_tune.report.builders.matrix import matrix_of
from clar_tune.report.texts import name, sentence

TABLES: tuple[Callable[[Comparison], Table | blocks.Matrix], ...] = (
    *(correlations.spearman_table, correlations.pearson_table, correlations.coefficients_table),
    *(matrix_of, effects.gains_table, effects.gains_over_rivals_table, methods.methods_table),
    *(effects.searches_table, effects.scores_table, effects.rivals_table),
    *(effects.tallies_table, methods.standings_table),
)
"""All tables in their order; one without lines is shown nowhere."""
ACROSS = (
    *(methods.ranks_table, methods.planned_tests_table),
    *(methods.planned_table, methods.pairs_table),
)
"""The same for tests over distinct graphs; without any test the conclusions say why."""


def document_of(comparison: Comparison, figures: Sequence[blocks.Figure] = ()) -> Document:
    """All that a comparison says: the same blocks for every format."""
    return Document(
        blocks=(*_blocks(comparison), *figures),
        stored=to_stored(comparison),
        flat=flat_of(comparison),
        origin=origin_of(comparison),
    )


def _blocks(comparison: Comparison) -> Iterator[Block]:
    runs = ", ".join(map(name, comparison.runs))
    medium = blocks.EVERYWHERE if comparison.scores else (blocks.PAGE,)
    said = tuple(map(sentence, comparison.conclusions))
    if comparison.scores:
        yield Headline(f"{runs}: {_what(comparison)}")
    else:
        yield Prose((f"{runs}: no winner has finals yet.",), media=(blocks.PRINT,))
    yield Prose(said, "What can be concluded, and what cannot", "conclusions", medium)
    if comparison.scores:
        for build in TABLES if comparison.across.reason else (*TABLES, *ACROSS):
            yield build(comparison)
        yield Prose(tuple(map(sentence, comparison.caption)), "How to read it", "legend")


def _what(comparison: Comparison) -> str:
    table = comparison.paper_table
    beside = f", beside Table {name(table)} of the paper" if table else ""
    return f"{name(comparison.space)}, {name(comparison.settings)} settings{beside}"
