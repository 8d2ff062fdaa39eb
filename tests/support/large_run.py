"""A run with many studies whose rows are simply made up: for what must not take long."""

import random
from dataclasses import replace
from functools import cache
from typing import Any

from support.results import NOON, SPACE
from support.simulation import plan_from
from support.stored_rows import row

from clar_tune.analysis.manifest_upgrade import upgraded
from clar_tune.analysis.runs import RunView, StudyView, studies_of
from clar_tune.graphs import known_facts
from clar_tune.records import to_stored
from clar_tune.rows import FinalRow, RepeatScore, RunRow, TrialRow
from clar_tune.search.manifest import manifest_of
from clar_tune.seeds import seed_for
from clar_tune.winner import winner

GRAPHS = (
    *("actor", "chameleon", "citeseer", "computers", "cora"),
    *("cornell", "photo", "pubmed", "squirrel", "texas"),
)
METHODS = (
    *("gcn", "gat", "sage", "cheby", "gpr"),
    *("gcn+nl", "gcn+preg", "gcn+clar", "gat+clar", "sage+clar"),
)


@cache
def large(trials: int = 100, finals: int = 10) -> RunView:
    """10 graphs x 10 methods."""
    places = [(graph, "", method) for graph in GRAPHS for method in METHODS]
    made = manifest_of(plan_from(SPACE), {})
    budget = {"studies": len(places), "trials": trials, "finals": finals}
    run = replace(
        made,
        state="finished",
        started=NOON,
        ended=NOON,
        studies=places,
        budget={**made.budget, **budget},
        study_plans=[],  # told by the rows below
    )
    studies = tuple(_study(run, graph, method, trials, finals) for graph, _, method in places)
    facts = {graph: to_stored(known_facts(graph)) for graph in GRAPHS}
    plans = [to_stored(study.planned) for study in studies]
    return RunView("large", replace(run, study_plans=plans, graph_facts=facts), studies)


def _study(run: RunRow, graph: str, method: str, trials: int, finals: int) -> StudyView:
    draw = random.Random(seed_for("large", graph, method))
    study = {"graph": graph, "method": method, "condition": "", "search": 0}
    curves = [
        [draw.gauss(0.6, 0.05) for _ in range(draw.choice([1, 1, 3, 9]))] for _ in range(trials)
    ]
    rows = [_trial(study, number, scores, draw) for number, scores in enumerate(curves)]
    repeats = [
        RepeatScore(
            **study, trial=number, repeat=index, val_score=score, val_loss=0.5, seconds=1.0
        )
        for number, scores in enumerate(curves)
        for index, score in enumerate(scores)
    ]
    best = winner(rows, "accuracy", 9)
    assert best is not None
    tested = [_final(study, best.trial, index, draw) for index in range(finals)]
    (found,) = studies_of(upgraded(run, rows), rows, tested, repeats)
    return found


def _trial(
    study: dict[str, Any], number: int, scores: list[float], draw: random.Random
) -> TrialRow:
    params = {
        "lr": 10 ** draw.uniform(-3, -1),
        "dropout": draw.choice([0, 0.2, 0.4, 0.6, 0.8]),
        "weight_decay": draw.choice([0, 5e-5, 5e-4, 5e-3]),
        "alpha": draw.choice([0, 0.01, 0.1, 1.0, 10.0]),
        "beta": draw.choice([0, 0.01, 0.1, 1.0, 10.0]),
        "reduction": draw.choice(["trace", "node-mean", "released"]),
    }
    failed = draw.random() < 0.05
    return row(
        TrialRow,
        **study,
        trial=number,
        protocol="balanced-60-20-20",
        metric="accuracy",
        state="failed" if failed else "complete" if len(scores) == 9 else "pruned",
        repeats=len(scores),
        val_score=sum(scores) / len(scores),
        val_loss=0.5,
        seconds=float(len(scores)),
        params=params,
        failure="diverged" if failed else None,
        error=f"loss is NaN in epoch {number}" if failed else None,
        retries=0,
        notes=(),
        started=NOON,
    )


def _final(study: dict[str, Any], trial: int, index: int, draw: random.Random) -> FinalRow:
    terms = {name: {"value": 1.5, "active": 0.5} for name in ("com", "ori")}
    return row(
        FinalRow,
        **study,
        trial=trial,
        repeat=index,
        split_seed=index,
        init_seed=index,
        val_score=0.6,
        test_score=draw.gauss(0.6, 0.05),
        train_nodes=600,
        val_nodes=200,
        test_nodes=200,
        penalty_active=0.5 if "+" in study["method"] else None,
        terms=terms if "+" in study["method"] else {},
        facts={},
        params={},
        seconds=1.0,
    )
