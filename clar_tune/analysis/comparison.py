"""Finals of winners side by side, with intervals, tests, and what can be concluded."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypeVar

from clar_tune.analysis.across_graphs import across_of
from clar_tune.analysis.captions import caption_of
from clar_tune.analysis.conclusions import conclusions_of
from clar_tune.analysis.contrasts import (
    contrasts_of,
    family_of,
    incomparable_pairs,
    incomparable_sentences,
)
from clar_tune.analysis.correlations import correlations_of
from clar_tune.analysis.joining import check_joinable
from clar_tune.analysis.layout import Place, split_label, to_cell
from clar_tune.analysis.records import (
    Across,
    Budget,
    Comparison,
    Contrast,
    Correlation,
    PairAcross,
    Point,
    Row,
    Score,
    Standing,
)
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.scores import Sample, samples_of, scores_of, standings_of
from clar_tune.graphs import PROTOCOLS, Protocol
from clar_tune.rows import GraphFacts

__all__ = [
    "Across",
    "Budget",
    "Comparison",
    "Contrast",
    "Correlation",
    "PairAcross",
    "Point",
    "Row",
    "Score",
    "Standing",
    "to_cell",
    "compare",
    "split_label",
]

T = TypeVar("T", bound=Hashable)


def compare(runs: Sequence[RunView]) -> Comparison:
    """One table from one run, or from several whose numbers are comparable."""
    check_joinable(runs)
    columns = tuple(runs[0].row.columns or ())
    planned, found = _planned(runs, columns), samples_of(runs, columns)
    places = _row_by_row(planned)
    samples = {place: found[place] for place in places if place in found}
    methods = list(dict.fromkeys(place[2] for place in planned if place in samples))
    table = _paper_table(runs)
    sign = next((sample.sign for sample in samples.values()), 1.0)
    family = family_of(places)
    incomparable = incomparable_pairs(samples, [plan.pair for plan in family])
    scores = scores_of(samples, table)
    contrasts = contrasts_of(samples, family, table, incomparable)
    correlations = correlations_of(samples, runs[0].row.correlate, table)
    graphs = {name: facts for run in runs for name, facts in run.row.graphs.items()}
    rows = _rows(samples, graphs)
    pairs = list(dict.fromkeys((plan.place[2], plan.against[2]) for plan in family))
    across = across_of(methods, scores, sign, graphs, pairs, mixed=bool(incomparable))
    shown = table if _prints(scores, contrasts, correlations) else None
    searched = any(score.budget.repeats for score in scores)
    return Comparison(
        runs=tuple(run.name for run in runs),
        space=" + ".join(dict.fromkeys(run.row.space for run in runs)),
        settings=runs[0].row.settings,
        paper_table=shown,
        methods=tuple(methods),
        rows=tuple(rows),
        scores=tuple(scores),
        contrasts=tuple(contrasts),
        family=len(family),
        standings=tuple(standings_of(methods, scores, contrasts, sign)),
        across=across,
        caption=tuple(caption_of(runs, rows, len(family), shown, correlations, searched)),
        conclusions=(
            *incomparable_sentences(incomparable, [plan.pair for plan in family]),
            *conclusions_of(runs, places, scores, contrasts, correlations, across),
        ),
        columns=columns,
        unit="search" if runs[0].budget["searches"] > 1 else "final",
        correlations=tuple(correlations),
    )


def _planned(runs: Sequence[RunView], columns: Collection[str]) -> list[Place]:
    """Every place that the runs set out to fill."""
    places = (plan.place for run in runs for plan in run.row.planned)
    return list(dict.fromkeys(to_cell(place, columns) for place in places))


def _row_by_row(places: Sequence[Place]) -> list[Place]:
    """Places of a row, and rows of a graph, together; else in their order."""
    graphs = _numbered(graph for graph, _, _ in places)
    rows = _numbered((graph, condition) for graph, condition, _ in places)
    methods = _numbered(method for _, _, method in places)
    return sorted(places, key=lambda p: (graphs[p[0]], rows[p[0], p[1]], methods[p[2]]))


def _numbered(found: Iterable[T]) -> dict[T, int]:
    """The place of each in order of first appearance."""
    return {each: number for number, each in enumerate(dict.fromkeys(found))}


def _paper_table(runs: Sequence[RunView]) -> str | None:
    """The paper's table, if all runs reproduce the same one."""
    tables = {run.row.paper for run in runs}
    return tables.pop() if len(tables) == 1 else None


def _prints(
    scores: Iterable[Score], contrasts: Iterable[Contrast], correlations: Iterable[Correlation]
) -> bool:
    """Whether any number of the paper stands beside ours."""
    numbers = (
        *(score.paper for score in scores),
        *(contrast.paper_ratio for contrast in contrasts),
        *(correlation.paper for correlation in correlations),
    )
    return any(number is not None for number in numbers)


def _rows(samples: Mapping[Place, Sample], graphs: Mapping[str, GraphFacts]) -> list[Row]:
    """Rows of a graph stand together, in the order of the plan."""
    rows: dict[tuple[str, str], Row] = {}
    for (graph, condition, _), sample in samples.items():
        rows[graph, condition] = Row(
            graph=graph,
            condition=condition,
            protocol=sample.study.protocol,
            metric=sample.study.metric,
            notes=tuple(_notes(graphs[graph], PROTOCOLS[sample.study.protocol])),
            **_nodes(sample),
        )
    return list(rows.values())


def _nodes(sample: Sample) -> dict[str, int]:
    """Sizes of the splits of its finals."""
    finals = [final for study in sample.studies for final in study.finals]
    names = ("train_nodes", "val_nodes", "test_nodes")
    return {name: round(fmean(getattr(final, name) for final in finals)) for name in names}


def _notes(graph: GraphFacts, protocol: Protocol) -> Iterator[str]:
    for note in graph.notes:
        if note != "directed" and (note != "leaky" or protocol.held_out):
            yield note
    if not protocol.held_out:
        yield "no held-out nodes"
    elif protocol.fixed:
        yield "fixed split"
    if not protocol.verdict:
        yield "no verdict"
