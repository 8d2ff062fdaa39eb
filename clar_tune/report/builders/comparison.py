"""A comparison as a document: which tables it has, and in which order."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis import Comparison
from clar_tune.records import to_stored
from clar_tune.report.builders import correlations, effects, methods
from clar_tune.report.builders.flat import flat_of, origin_of
from clar_tune.report.builders.matrix import matrix_of
from clar_tune.report.document import PAGE, PRINT, Block, Document, Figure, Headline, Prose, Table
from clar_tune.report.texts import name, sentence

TABLES = (
    *(effects.gains_table, effects.gains_over_rivals_table, methods.methods_table),
    *(effects.searches_table, effects.scores_table, effects.rivals_table),
    *(effects.tallies_table, methods.standings_table),
)
"""Below the matrix; a table without lines is left out."""
ACROSS = (
    *(methods.ranks_table, methods.planned_tests_table),
    *(methods.planned_table, methods.pairs_table),
)
"""The same for tests over distinct graphs; without any test the conclusions say why."""


def document_of(comparison: Comparison, figures: Sequence[Figure] = ()) -> Document:
    """All that a comparison says: the same blocks for every format."""
    return Document(
        blocks=(*_blocks(comparison), *figures),
        stored=to_stored(comparison),
        flat=flat_of(comparison),
        origin=origin_of(comparison),
    )


def _blocks(comparison: Comparison) -> Iterator[Block]:
    runs = ", ".join(map(name, comparison.runs))
    title = "What can be concluded, and what cannot"
    conclusions = Prose(_sentences(comparison.conclusions), title, "conclusions")
    if not comparison.scores:
        yield Prose((f"{runs}: no winner has finals yet.",), media=(PRINT,))
        yield Prose(conclusions.sentences, title, "conclusions", (PAGE,))
        return
    yield Headline(f"{runs}: {_what(comparison)}")
    yield conclusions
    yield from _filled(correlations.spearman_table(comparison))
    yield from _filled(correlations.pearson_table(comparison))
    yield from _filled(correlations.coefficients_table(comparison))
    yield matrix_of(comparison)
    for build in TABLES if comparison.across.reason else (*TABLES, *ACROSS):
        yield from _filled(build(comparison))
    yield Prose(_sentences(comparison.caption), "How to read it", "legend")


def _what(comparison: Comparison) -> str:
    table = comparison.paper_table
    beside = f", beside Table {name(table)} of the paper" if table else ""
    return f"{name(comparison.space)}, {name(comparison.settings)} settings{beside}"


def _filled(table: Table) -> Iterator[Table]:
    if table.lines:
        yield table


def _sentences(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(sentence, texts))
