"""Sixty small studies, each planned, conducted and trained as a run does, without Ray."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from support.simulation import Memory, work

from clar_tune.cluster.asha import Asha
from clar_tune.graphs import apply_variants
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.loading import load
from clar_tune.records import from_stored
from clar_tune.search.jobs import Job, Outcome, perform
from clar_tune.search.manifest import machine
from clar_tune.search.scheduler import Scheduler
from clar_tune.space import parse_space
from clar_tune.space.plan import Options, Plan, make_plan
from clar_tune.store.schema import plain
from clar_tune.training import form_of

CASES = Path(__file__).with_name("specifications.yaml")
FLOATS = ("val_score", "val_loss", "test_score")
EXACT = (
    *("graph", "method", "condition", "protocol", "search", "trial", "repeat", "key"),
    *("split_seed", "init_seed", "params", "metric", "select", "threads"),
    *("train_nodes", "val_nodes", "test_nodes"),
)
EPOCHS = ("epochs", "best_epoch")


def cases() -> dict[str, dict[str, Any]]:
    """Every case by name: what its space and its options say."""
    table = yaml.safe_load(CASES.read_text())
    every = {
        f"{backbone}+{regularizer}": {"methods": [f"{backbone}+{regularizer}"]}
        if regularizer != "none"
        else {"methods": [backbone]}
        for backbone in table["backbones"]
        for regularizer in table["regularizers"]
    }
    return {**every, **table["cases"]}


def plan_of(case: dict[str, Any], engine: str) -> Plan:
    """A space of one study: two configurations of one repeat, and a final of the winner."""
    space = {
        "graphs": [case.get("graph", "csbm-heterophily")],
        "methods": case.get("methods", ["gcn"]),
        "protocol": case.get("protocol", "balanced-60-20-20"),
        "training": {"max_epochs": 8, "patience": 4, "warmup": 1, **case.get("training", {})},
        "search": {"trials": 2, "repeats": 1, "sampler": "grid", "pruning": False},
        "finals": 1,
        "settings": {
            "tuned": {
                "shared": {"hidden": 8, "dropout": {"choices": [0.3, 0.1]}},
                "regularizers": {
                    method.partition("+")[2]: case.get("params", {})
                    for method in case.get("methods", [])
                    if "+" in method
                },
            }
        },
    }
    if "sweep" in case:
        space["conditions"] = [{"sweep": case["sweep"]}]
    if "preprocessing" in case:
        space["preprocessing"] = case["preprocessing"]
    text = yaml.safe_dump(space, sort_keys=False)
    # The winner as it is: what was frozen knows no other arms.
    given = {"ablation": False, "engine": engine, **case.get("options", {})}
    options = from_stored(Options, given)
    return make_plan(parse_space(text, "frozen", "frozen.yaml"), options)


def trained_rows(case: dict[str, Any], engine: str) -> list[dict[str, Any]]:
    """The rows that a run of the case stores, floats as their exact text.

    What an engine leaves to torch has none: it would be frozen twice.
    """
    plan, memory = plan_of(case, engine), Memory()
    if {study.engine for study in plan.studies} != {engine}:
        return []

    def train(job: Job, index: int) -> Outcome:
        graph = apply_variants(
            _graph(job.spec.graph, plan.space.preprocessing), job.variant, job.seed
        )
        return perform(job, index, graph, form_of(graph, engine))

    hashes = {name: _graph(name, plan.space.preprocessing).hash for name in plan.graphs}
    work(Scheduler(plan, hashes, memory.append, Asha), train)
    repeats = [plain("repeats", row) for row in memory.repeats]
    return [_exact(row) for row in (*repeats, *(plain("finals", row) for row in memory.finals))]


def processor() -> str:
    """The kind of processor here."""
    return str(machine()["processor"])


@cache
def _graph(name: str, preprocessing: str) -> Graph:
    return load(name, preprocessing)


def _exact(row: dict[str, Any]) -> dict[str, Any]:
    floats = {name: row[name].hex() for name in FLOATS if name in row}
    terms = {
        name: {key: float(value).hex() for key, value in term.items()}
        for name, term in json.loads(row["terms"]).items()
    }
    facts = {name: float(value).hex() for name, value in json.loads(row["facts"]).items()}
    kept = {name: row[name] for name in (*EXACT, *EPOCHS)}
    return {**kept, **floats, "terms": terms, "facts": facts}
