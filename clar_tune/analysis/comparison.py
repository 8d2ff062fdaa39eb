"""Finals of winners side by side, with intervals, tests, and what can be concluded."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypeVar

from clar_tune.analysis.across_graphs import across_of
from clar_tune.analysis.captions import Captioned, caption_of
from clar_tune.analysis.conclusions import Findings, headline_of, sentences_of
from clar_tune.analysis.contrasts import (
    Question,
    contrasts_of,
    incomparable_pairs,
    incomparable_sentences,
)
from clar_tune.analysis.correlations import correlations_of
from clar_tune.analysis.effect_records import NODES, SPLITS, Criteria, PenaltyEffect
from clar_tune.analysis.families import Judging, effects_of
from clar_tune.analysis.joining import check_joinable, differ_in_splits
from clar_tune.analysis.layout import Place, split_label, to_cell
from clar_tune.analysis.over_graphs import effects_over_graphs, gains_over_graphs
from clar_tune.analysis.planned import backbones_of, cells_of, family_of
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
from clar_tune.analysis.samples import Sample, samples_of
from clar_tune.analysis.scores import scores_of, standings_of
from clar_tune.graphs import PROTOCOLS, Protocol
from clar_tune.rows import GraphFacts

__all__ = [
    "Across",
    "Budget",
    "Comparison",
    "Contrast",
    "Correlation",
    "PairAcross",
    "PenaltyEffect",
    "Point",
    "Row",
    "Score",
    "Standing",
    "to_cell",
    "compare",
    "split_label",
]

T = TypeVar("T", bound=Hashable)

DEFAULTS = Criteria()


def compare(runs: Sequence[RunView], criteria: Criteria = DEFAULTS) -> Comparison:
    """One table from one run, or from several whose numbers are comparable."""
    check_joinable(runs)
    columns = tuple(runs[0].row.columns or ())
    protocols = _planned(runs, columns)
    found = samples_of(runs, columns, new_data=criteria.interval != SPLITS)
    places = _row_by_row(list(protocols))
    samples = {place: found[place] for place in places if place in found}
    methods = list(dict.fromkeys(place[2] for place in protocols if place in samples))
    table = _paper_table(runs)
    judging = _judging(runs, criteria)
    family = family_of(places)
    pairs = [plan.pair for plan in family]
    incomparable = incomparable_pairs(samples, pairs)
    cells = cells_of(places) if all(run.row.may_have_effects for run in runs) else []
    effects = effects_of(samples, cells, protocols, judging)
    better = {(e.graph, e.condition, e.method) for e in effects if e.verdict == "better"}
    asked = Question(table, incomparable, judging, better)
    contrasts = contrasts_of(samples, family, protocols, asked)
    beside = contrasts_of(samples, backbones_of(places, criteria.baseline), protocols, asked)
    scores = scores_of(samples, table)
    correlations = correlations_of(samples, runs[0].row.correlate, table)
    graphs = {name: facts for run in runs for name, facts in run.row.graphs.items()}
    rows = _rows(samples, graphs)
    sign = next((sample.sign for sample in samples.values()), 1.0)
    tested = list(dict.fromkeys((plan.place[2], plan.against[2]) for plan in family))
    across = across_of(methods, scores, sign, graphs, tested, mixed=bool(incomparable))
    shown = table if _prints(scores, contrasts, correlations) else None
    words = Findings(
        *(runs, places, rows, scores, contrasts, effects, correlations, across),
        list(incomparable_sentences(incomparable, pairs)),
    )
    conclusions, remarks = sentences_of(words)
    captioned = Captioned(runs, rows, scores, effects, correlations, shown)
    budgets = {place: _budget(sample) for place, sample in samples.items()}
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
        standings=tuple(standings_of(methods, scores, contrasts, effects, sign)),
        across=across,
        caption=tuple(caption_of(captioned, judging, criteria.interval)),
        conclusions=conclusions,
        columns=columns,
        unit="search" if runs[0].budget["searches"] > 1 else "final",
        correlations=tuple(correlations),
        headline=headline_of(words),
        effects=tuple(effects),
        backbones=tuple(beside),
        over_graphs=(
            *effects_over_graphs(effects, rows, graphs, budgets),
            *gains_over_graphs(samples, family, graphs, judging),
        ),
        remarks=remarks,
        margin=judging.margin,
        interval=criteria.interval,
        scope=judging.scope,
        baseline=criteria.baseline,
        looks=judging.look,
    )


def compare_all(runs: Sequence[RunView], criteria: Criteria = DEFAULTS) -> list[Comparison]:
    """One table of all runs; of two that hold the same studies under other splits, two."""
    apart = [[run] for run in runs] if differ_in_splits(runs) else [list(runs)]
    return [compare(own, criteria) for own in apart]


def _judging(runs: Sequence[RunView], criteria: Criteria) -> Judging:
    """The margin of the reader or of the runs; with withheld nodes verdicts are about nodes."""
    own = runs[0].row.margin
    return Judging(
        margin=own if criteria.margin is None else criteria.margin,
        look=max(run.row.looks for run in runs),
        scope=NODES if runs[0].options.get("outer_test") else SPLITS,
    )


def _planned(runs: Sequence[RunView], columns: Collection[str]) -> dict[Place, str]:
    """Every place that the runs set out to fill, and how its nodes are split."""
    plans = (plan for run in runs for plan in run.row.planned)
    return {to_cell(plan.place, columns): plan.protocol for plan in plans}


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
            floor=_mean_of(sample, "floor"),
            shift=_mean_of(sample, "shift"),
            balanced_floor=_mean_of(sample, "balanced_floor"),
            **_nodes(sample),
        )
    return list(rows.values())


def _mean_of(sample: Sample, column: str) -> float | None:
    """Over all finals that have it; methods of a row meet the same splits."""
    finals = (getattr(f, column) for study in sample.studies for f in study.finals)
    found = [value for value in finals if value is not None]
    return fmean(found) if found else None


def _budget(sample: Sample) -> Hashable:
    """What a study was given, but for repeats: small graphs have more of them by rule."""
    study = sample.study
    return study.asked, study.planned.finals, str(study.planned.precision)


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
