"""Runs whose finals have given scores arm by arm, and given answers node by node."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from support.results import finished, plausible

from clar_tune.analysis.runs import RunView

SEARCHED = """
description: shared parameters and penalties are searched
graphs: [{graphs}]
methods: [{methods}]
protocol: {protocol}
search: {{trials: 4, repeats: 1, pruning: false, sampler: random}}
finals: {finals}
settings:
  tuned:
    shared: {{lr: {{choices: [0.1, 0.2, 0.3, 0.4]}}}}
    regularizers: {{clar: {{alpha: 1, beta: {beta}}}}}
"""

Score = Callable[[str, str, int], float]
"""The test score of an arm of a graph in one final."""


def run_with(
    score: Score,
    finals: int = 10,
    *,
    graphs: str = "texas",
    methods: str = "gcn, gcn+clar",
    protocol: str = "random-60-20-20",
    beta: str = "1",
    more: Callable[[str, int], dict[str, Any]] = lambda arm, index: {},
    **options: Any,
) -> RunView:
    """Finals score as ``score(graph, arm, index)`` says; those of plain winners are ``plain``.

    The plain winner has another learning rate than the others, so that all arms are trained.
    ``more`` gives other columns of a final.
    """

    def train(job, index):
        done, spec = plausible(job, index), job.spec_of(index)
        if job.purpose != "final":
            wanted = 0.4 if spec.regularizer == "none" else 0.1
            level = 0.9 if spec.params["lr"] == wanted else 0.5
            return replace(done, record=replace(done.record, val_score=level))
        arm = spec.arm if "+" in job.spec.method or spec.arm != "on" else "plain"
        value = score(spec.graph, arm, index)
        return replace(done, **{"test_score": value, **more(arm, index)})

    text = SEARCHED.format(
        graphs=graphs, methods=methods, protocol=protocol, finals=finals, beta=beta
    )
    return finished(text, train, **options)


def answers(tested: np.ndarray, correct: np.ndarray) -> dict[str, Any]:
    """The columns of a final that was right at some of its test nodes; both are masks."""
    return {
        "tested": np.packbits(tested).tobytes(),
        "correct": np.packbits(correct[tested]).tobytes(),
        "test_nodes": int(tested.sum()),
        "test_score": float(correct[tested].mean()),
    }
