"""Finals of winners side by side, with intervals, tests, and what can be concluded."""

import json
from collections.abc import Sequence

from clar_tune.catalogue import dataset_named
from clar_tune.comparison.across import across_of
from clar_tune.comparison.contrasts import contrasts_of, family_of
from clar_tune.comparison.joining import check_joinable
from clar_tune.comparison.records import (
    Across,
    Budget,
    Comparison,
    Contrast,
    PairAcross,
    Row,
    Score,
    Standing,
)
from clar_tune.comparison.samples import Place, Sample, samples_of
from clar_tune.comparison.scores import scores_of
from clar_tune.comparison.sentences import caption_of, conclusions_of
from clar_tune.comparison.standings import standings_of
from clar_tune.overview import RunView
from clar_tune.splits import PROTOCOLS

__all__ = [
    "Across",
    "Budget",
    "Comparison",
    "Contrast",
    "PairAcross",
    "Row",
    "Score",
    "Standing",
    "compare",
]


def compare(runs: Sequence[RunView]) -> Comparison:
    """One table from one run, or from several whose numbers are comparable."""
    check_joinable(runs)
    samples = samples_of(runs)
    methods = _methods(runs, samples)
    table = _paper_table(runs)
    sign = next((sample.sign for sample in samples.values()), 1.0)
    family = family_of(_planned(runs))
    scores = scores_of(samples, table)
    contrasts = contrasts_of(samples, family, table)
    rows = _rows(samples)
    planned = list(dict.fromkeys((plan.place[2], plan.against[2]) for plan in family))
    across = across_of(methods, scores, sign, planned)
    return Comparison(
        runs=tuple(run.name for run in runs),
        space=" + ".join(dict.fromkeys(run.row.space for run in runs)),
        settings=runs[0].row.settings,
        paper_table=table,
        methods=tuple(methods),
        rows=tuple(rows),
        scores=tuple(scores),
        contrasts=tuple(contrasts),
        family=len(family),
        standings=tuple(standings_of(methods, scores, contrasts, sign)),
        across=across,
        caption=tuple(caption_of(runs, rows, len(family), table)),
        conclusions=tuple(conclusions_of(runs, scores, contrasts, across)),
    )


def _planned(runs: Sequence[RunView]) -> list[Place]:
    """Every place that the runs set out to fill, and any that they filled besides."""
    planned = [place for run in runs for place in json.loads(run.row.studies)]
    begun = [(study.graph, study.condition, study.method) for run in runs for study in run.studies]
    return list(dict.fromkeys([(graph, condition, m) for graph, condition, m in planned] + begun))


def _methods(runs: Sequence[RunView], samples: dict[Place, Sample]) -> list[str]:
    """Methods with finals, in the order of the plan."""
    present = {method for _, _, method in samples}
    return list(dict.fromkeys(method for _, _, method in _planned(runs) if method in present))


def _paper_table(runs: Sequence[RunView]) -> str | None:
    """The paper's table, if all runs reproduce the same one."""
    tables = {run.row.paper for run in runs}
    return tables.pop() if len(tables) == 1 else None


def _rows(samples: dict[Place, Sample]) -> list[Row]:
    rows: dict[tuple[str, str], Row] = {}
    for (graph, condition, _), sample in samples.items():
        protocol = sample.studies[0].protocol
        notes = [note for note in dataset_named(graph).notes if note != "directed"]
        notes += ["fixed split"] if PROTOCOLS[protocol].fixed else []
        notes += ["no verdict"] if not PROTOCOLS[protocol].verdict else []
        rows[graph, condition] = Row(
            graph=graph,
            condition=condition,
            protocol=protocol,
            metric=sample.metric,
            notes=tuple(notes),
        )
    return list(rows.values())
