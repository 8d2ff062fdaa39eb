"""Runs that search nothing: finals with given test scores, and one cell of their table."""

from dataclasses import replace

from support.results import finished, plausible

from clar_tune.analysis.effect_records import Criteria, PenaltyEffect
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.runs import RunView

GRID = """
description: no search, only finals
graphs: [{graphs}]
methods: [gcn, gcn+nl, gcn+clar]
protocol: {protocol}
finals: {finals}
settings: {{tuned: {{regularizers: {{nl: {{alpha: 1}}, clar: {{alpha: 1, beta: 1}}}}}}}}
"""


def table(
    scores: dict[str, list[float]],
    graphs: str = "texas",
    protocol: str = "balanced-60-20-20",
    **options,
) -> RunView:
    """A run whose finals have these test scores on every graph."""

    def train(job, index):
        done = plausible(job, index)
        return replace(
            done, test_score=scores[job.spec.method][index % len(scores[job.spec.method])]
        )

    count = max(map(len, scores.values()))
    text = GRID.format(graphs=graphs, protocol=protocol, finals=count)
    return finished(text, train, **options)


def of(comparison: Comparison, method: str, graph: str = "texas"):
    row = next(row for row in comparison.rows if row.graph == graph)
    return comparison.score(row, method), comparison.contrast(row, method)


def effect_of(comparison: Comparison, method: str, graph: str = "texas") -> PenaltyEffect:
    """What a penalty does on a graph."""
    row = next(row for row in comparison.rows if row.graph == graph)
    return comparison.effect(row, method)


NEW_DATA = Criteria(interval="nadeau-bengio")

PLAIN = [0.60, 0.62, 0.64, 0.66, 0.68]


CLEAR = {
    "gcn": PLAIN,
    "gcn+nl": [0.601, 0.622, 0.641, 0.663, 0.682],
    "gcn+clar": [0.70, 0.72, 0.75, 0.76, 0.78],
}
