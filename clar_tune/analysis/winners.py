"""The winners of a run as a space without a search, to train them again on other ground."""

from typing import Any

import yaml

from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.errors import StoreError
from clar_tune.space import stored_preprocessing

TRAINING = ("max_epochs", "patience", "warmup", "select", "optimizer", "stop", "engine")
"""Rules of trainings that a manifest holds, some only where they are not as usual."""


def winners_space(run: RunView) -> str:
    """The text of a space: the run's graphs and methods, each fixed at what its search chose."""
    _check(run)
    row, budget = run.row, run.budget
    content = {
        "description": f"Winners of {run.name}, as its search found them.",
        "graphs": list(dict.fromkeys(study.graph for study in run.studies)),
        "methods": list(dict.fromkeys(study.method for study in run.studies)),
        **({"paper": row.paper} if row.paper else {}),
        "margin": 100 * row.margin,
        "training": {name: budget[name] for name in TRAINING if name in budget},
        "finals": _finals(run),
        "settings": {"tuned": _block(run)},
    }
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100)


def _check(run: RunView) -> None:
    """Refuse runs whose winners are more than one per graph and method, or are not all there."""
    if any(study.condition for study in run.studies):
        raise StoreError(
            f"{run.name} has conditions, and a winner for each: a space can fix one configuration "
            "of a method on a graph. Take single ones with `clar-tune best`."
        )
    if run.budget["searches"] > 1:
        raise StoreError(
            f"{run.name} searched {run.budget['searches']} times, with a winner each time. Name a "
            "run with one search."
        )
    found = {study.planned.place for study in run.studies if study.best}
    for plan in run.row.planned:
        if plan.place not in found:
            raise StoreError(
                f"{run.name} has no winner yet for {plan.method} on {plan.graph}. Finish it with "
                f"`clar-tune resume {run.name}`."
            )


def _finals(run: RunView) -> int | dict[str, Any]:
    """As the run was asked for them: a number, or a precision in points."""
    plan = run.row.planned[0]
    if plan.precision is None:
        return plan.finals
    return {**plan.precision, "half_width": 100 * plan.precision["half_width"]}


def _block(run: RunView) -> dict[str, Any]:
    chosen: dict[str, dict[str, Any]] = {}
    for study in run.studies:
        chosen.setdefault(study.graph, {})[study.method] = _params(study)
    return {
        "protocol": {study.graph: study.protocol for study in run.studies},
        "preprocessing": stored_preprocessing(run.row.space_text, run.row.settings, run.name),
        "graphs": {graph: {"methods": methods} for graph, methods in chosen.items()},
    }


def _params(study: StudyView) -> dict[str, Any]:
    return dict(study.best.params) if study.best else {}
