"""Several runs as one table: only if their numbers can stand side by side."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from clar_tune.analysis.runs import RunView
from clar_tune.errors import StoreError

UNLIKE = ("studies",)
"""Entries of a budget in which joined runs may differ."""


def check_joinable(runs: Sequence[RunView]) -> None:
    """Refuse runs whose numbers are not comparable, naming the first difference."""
    for other in runs[1:]:
        _check_rules(runs[0], other)
    facts = [_graph_facts(run) for run in runs]
    # Every run with every other: one that has no finals yet vouches for nobody.
    for (first, known), (other, found) in combinations(zip(runs, facts, strict=True), 2):
        for graph in known.keys() & found.keys():
            _check_facts(first, other, known[graph], found[graph])
    _check_owners(runs)


def differ_in_splits(runs: Sequence[RunView]) -> bool:
    """Whether these are two runs whose common studies all have other splits or settings.

    They cannot stand in one table, but their effects can be set against each other.
    """
    if len(runs) != 2 or runs[0].row.numbers != runs[1].row.numbers:
        return False
    first, second = ({plan.place: plan.protocol for plan in run.row.planned} for run in runs)
    shared = first.keys() & second.keys()
    return bool(shared) and all(first[place] != second[place] for place in shared)


def _check_facts(
    first: RunView, other: RunView, known: Mapping[str, Any], found: Mapping[str, Any]
) -> None:
    for name, value in known.items():
        if found.get(name, value) != value:
            _refuse(first, other, name, value, found[name])


def _check_owners(runs: Sequence[RunView]) -> None:
    owners: dict[tuple[str, ...], RunView] = {}
    for run in runs:
        for study in run.studies:
            place = study.graph, study.method, study.condition, str(study.search)
            owner = owners.setdefault(place, run)
            if owner is not run:
                raise StoreError(
                    f"{owner.name} and {run.name} both hold {study.method} on {study.graph}"
                    f"{f' ({study.condition})' if study.condition else ''}. Compare one of them."
                )


def _check_rules(first: RunView, other: RunView) -> None:
    ours, theirs = _rules(first), _rules(other)
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            _refuse(first, other, name, ours.get(name), theirs.get(name))


def _rules(run: RunView) -> dict[str, Any]:
    """What all joined runs must have in common."""
    return {
        "version of the numbers": run.row.numbers,
        "settings": run.row.settings,
        "columns": run.row.columns and json.dumps(run.row.columns),
        "correlate": run.row.correlate and json.dumps(run.row.correlate),
        "outer test": run.options.get("outer_test"),
        "margin": run.row.margin,
        **{name: value for name, value in run.budget.items() if name not in UNLIKE},
    }


def _graph_facts(run: RunView) -> dict[str, dict[str, Any]]:
    """What joined runs must have in common on a graph: content, protocol, final pairs."""
    found: dict[str, dict[str, Any]] = {
        graph: {f"content of {graph}": content, **_seed(run, graph)}
        for graph, content in run.row.graph_hashes.items()
    }
    for study in run.studies:
        facts = found.setdefault(study.graph, _seed(run, study.graph))
        facts[f"protocol of {study.graph}"] = study.protocol
        for final in study.finals:
            pair = final.split_seed, final.init_seed
            name = f"seeds of final {final.repeat} (search {study.search}) of {study.graph}"
            facts[name] = pair
    return found


def _seed(run: RunView, graph: str) -> dict[str, Any]:
    """What all final pairs of a graph come from."""
    return {f"--seed on {graph}": run.row.seed}


def _refuse(first: RunView, other: RunView, what: str, one: Any, two: Any) -> None:
    raise StoreError(
        f"{first.name} and {other.name} cannot stand in one table: {what} is {one} and {two}. "
        "Compare them one by one, or run again with equal settings."
    )
