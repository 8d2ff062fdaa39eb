"""Finished runs of the spaces that sweep conditions, at a small budget and without training."""

import math
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from support.results import plausible, simulated, view
from support.simulation import plan_from

from clar_tune.analysis.runs import RunView
from clar_tune.search.jobs import Job, Outcome, TrainingResult
from clar_tune.search.manifest import manifest_of
from clar_tune.seeds import seed_for

SPACES = Path(__file__).parents[2] / "search_spaces"


def along(job: Job, index: int) -> Outcome:
    """As ``plausible``, but scores follow what a condition sets, and errors are small."""
    done = plausible(job, index)
    assert isinstance(done, TrainingResult)
    params = {**job.spec.params, **job.variant}
    score = done.record.val_score - 0.3 * float(params.get("drop_edges", 0.0))
    if "clamp" not in params:  # clar keeps its score however deep
        score -= 0.08 * math.log2(float(params.get("layers", 2)) / 2)
    score -= 0.15 * abs(float(params.get("alpha") or 0.0) - 0.2)
    score = min(max(round(score, 4), 0.0), 1.0)
    record = replace(done.record, val_score=score, facts=_facts(job, index))
    if "filter" in params:
        error = 0.04 * (1 - score) * (0.9 if job.spec.method.endswith("+clar") else 1.0)
        score, record = error, replace(record, metric="mse", val_score=error)
    final = {"test_score": score} if job.purpose == "final" else {}
    return replace(done, record=record, **final)


def _facts(job: Job, index: int) -> dict[str, float]:
    """What learned filters tell: a low-pass gpr, a cheby that passes both ends."""
    noise = random.Random(seed_for("facts", job.spec.graph, index)).uniform(0.9, 1.1)
    backbone = job.spec.method.partition("+")[0]
    if backbone == "gpr":
        return {"gamma_0": 0.2 * noise, "gamma_1": 0.5, "gamma_2": 0.3}
    if backbone == "cheby":
        entries = {"0_0": 1.0, "0_1": 0.0, "0_2": 0.5 * noise, "1_1": 0.1, "1_2": 0, "2_2": 0.8}
        return {f"gram_layer_{j}_{place}": v for j in (0, 1) for place, v in entries.items()}
    return {}


@cache
def swept(space: str, **options: Any) -> RunView:
    """A finished run of a space that ships."""
    given = {"trials": 3, "repeats": 1, "finals": 6, "sampler": "random", **options}
    text = (SPACES / f"{space}.yaml").read_text(encoding="utf-8")
    return view(*simulated(text, along, **given))


@cache
def whole_grid() -> RunView:
    """All cells of ``sampling``, made up from those of a smaller run."""
    small = gridded(every=4)
    plan = plan_from((SPACES / "sampling.yaml").read_text(encoding="utf-8"))
    row = manifest_of(plan, {})
    kept = {key: value for key, value in small.row.budget.items() if key != "studies"}
    budget = {**row.budget, **kept}
    models = {study.graph: study for study in small.studies}
    studies = tuple(
        replace(
            models[planned.graph],
            planned=planned,
            finals=tuple(
                replace(final, test_score=_jittered(final.test_score, planned.condition))
                for final in models[planned.graph].finals
            ),
        )
        for planned in row.planned
    )
    plans = {"study_plans": row.study_plans, "graph_facts": row.graph_facts}
    return RunView(
        "grid", replace(small.row, studies=row.studies, budget=budget, **plans), studies
    )


def _jittered(score: float, condition: str) -> float:
    return score + random.Random(seed_for("cell", condition)).gauss(0, 0.02)


@cache
def gridded(every: int = 1) -> RunView:
    """A finished run of ``sampling``, in which nothing is searched, with every n-th weight."""
    text = (SPACES / "sampling.yaml").read_text(encoding="utf-8")
    weights = re.search(r"alpha: &weights \[(.*)\]", text)
    assert weights is not None
    some = ", ".join(weights[1].split(", ")[::every])
    return view(*simulated(text.replace(weights[1], some), along, finals=5))
