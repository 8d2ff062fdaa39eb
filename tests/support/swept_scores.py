"""Sweeps whose finals have given test scores."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from support.results import finished, plausible

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.layout import parts_of
from clar_tune.analysis.records import Comparison

DEPTH = """
graphs: [cora]
methods: [gcn, gcn+clar, gcn+dropedge]
protocol: planetoid
conditions:
  - sweep: {layers: [2, 8]}
    methods: [gcn, gcn+dropedge]
  - sweep: {layers: [2, 8], clamp: [1, 10]}
    methods: [gcn+clar]
columns: [clamp]
finals: 5
settings: {tuned: {regularizers: {clar: {alpha: 1}, dropedge: {rate: 0.2}}}}
"""


ERRORS = """
graphs: [chameleon]
methods: [gcn, gcn+clar]
protocol: whole-graph
paper: II
conditions: [{sweep: {filter: [high-pass, low-pass]}}]
finals: 5
settings: {tuned: {regularizers: {clar: {alpha: 1}}}}
"""


Score = Callable[[str, dict[str, str], int], float]
"""The test score of a method under a condition in one final."""


def table(text: str, score: Score, **options) -> Comparison:
    """A run whose finals have these test scores."""
    return compare([run(text, score, **options)])


def run(text: str, score: Score, **options):
    def train(job, index):
        done, condition = plausible(job, index), parts_of(job.spec.condition)
        value = score(job.spec.method, condition, index)
        return replace(done, test_score=value, record=replace(done.record, val_loss=1 - value))

    return finished(text, train, **options)


def deep(method: str, condition: dict[str, str], index: int) -> float:
    """Plain at 0.6, or 0.5 with 8 layers; clar 0.01 better per unit of its clamp."""
    gain = ("clar" in method) * (0.01 * int(condition.get("clamp", 0)) + 0.0001 * index)
    return 0.6 - 0.1 * (condition["layers"] == "8") + gain


SENSITIVITY = """
graphs: [cora, cs]
methods: [gcn+clar, gat+clar]
protocol: {cora: planetoid, cs: coauthor-20-30}
paper: V
conditions: [{sweep: {samples: [1, 2, 16, 4]}}]
correlate: {spearman: samples}
finals: 6
settings: {tuned: {regularizers: {clar: {alpha: 1}}}}
"""


SAMPLING = """
graphs: [cora, texas]
methods: [gcn+clar]
protocol: balanced-60-20-20
paper: VI
conditions:
  - sweep: {alpha: [0, 0.1, 1], beta: [0, 1], sampling: [node, edge, any]}
columns: [sampling]
correlate: {pearson: sampling}
finals: 5
settings: {tuned: {}}
"""


def rising(method, condition, index):
    """Rises with S for gcn, does not care for gat."""
    effect = 0.01 * np.log2(int(condition["samples"])) if method == "gcn+clar" else 0.0
    noise = np.random.default_rng([index, int(condition["samples"])]).normal()
    return float(0.7 + effect + 0.002 * noise)


def alike(method, condition, index):
    """Edge sampling does as node sampling but for a little; without beta nothing is sampled."""
    alpha, beta = float(condition["alpha"]), float(condition["beta"])
    score = 0.6 + 0.1 * alpha + 0.02 * beta + 0.001 * index
    if beta and condition["sampling"] == "edge":
        score += 0.005 * (alpha == 1)
    if beta and condition["sampling"] == "any":
        score += 0.008 + 0.001 * index
    return score
