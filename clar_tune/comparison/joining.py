"""Several runs as one table: only if their numbers can stand side by side."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clar_tune.errors import StoreError
from clar_tune.overview import RunView

UNLIKE = ("studies",)
"""Entries of a budget in which joined runs may differ."""


def check_joinable(runs: Sequence[RunView]) -> None:
    """Refuse runs whose numbers are not comparable, naming the first difference."""
    first = runs[0]
    for other in runs[1:]:
        _check_rules(first, other)
    graphs: dict[str, tuple[RunView, Mapping[str, str]]] = {}
    owners: dict[tuple[str, ...], RunView] = {}
    for run in runs:
        for graph, facts in _graph_facts(run).items():
            known, expected = graphs.setdefault(graph, (run, facts))
            for name, value in facts.items():
                if expected.get(name, value) != value:
                    _refuse(known, run, f"{name} of {graph}", expected[name], value)
        for study in run.studies:
            place = study.graph, study.method, study.condition, str(study.search)
            owner = owners.setdefault(place, run)
            if owner is not run:
                raise StoreError(
                    f"{owner.name} and {run.name} both hold {study.method} on {study.graph}"
                    f"{f' ({study.condition})' if study.condition else ''}. Compare one of them."
                )


def _check_rules(first: RunView, other: RunView) -> None:
    for name, value in _rules(first).items():
        if _rules(other).get(name) != value:
            _refuse(first, other, name, value, _rules(other).get(name))


def _rules(run: RunView) -> dict[str, Any]:
    """What all joined runs must have in common."""
    return {
        "version of the numbers": run.row.numbers,
        "settings": run.row.settings,
        "outer test": run.options.get("outer_test"),
        **{name: value for name, value in run.budget.items() if name not in UNLIKE},
    }


def _graph_facts(run: RunView) -> dict[str, dict[str, Any]]:
    """What joined runs must have in common on a graph: content, protocol, final pairs."""
    found: dict[str, dict[str, Any]] = {
        graph: {"content": content} for graph, content in json.loads(run.row.graph_hashes).items()
    }
    for study in run.studies:
        facts = found.setdefault(study.graph, {})
        facts["protocol"] = study.protocol
        for final in study.finals:
            pair = final["split_seed"], final["init_seed"]
            facts[f"seeds of final {final['repeat']} (search {study.search})"] = pair
    return found


def _refuse(first: RunView, other: RunView, what: str, one: Any, two: Any) -> None:
    raise StoreError(
        f"{first.name} and {other.name} cannot stand in one table: {what} is {one} and {two}. "
        "Compare them one by one, or run again with equal settings."
    )
