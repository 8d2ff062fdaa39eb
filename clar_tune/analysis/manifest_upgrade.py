"""Manifests of older versions in today's form, so that readers know one form alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clar_tune.conditions import parts_of
from clar_tune.errors import ClarTuneError
from clar_tune.graphs import VARIANTS, dataset_named, known_facts, metric_of
from clar_tune.records import Params, to_stored
from clar_tune.rows import PlannedStudy, RunRow, TrialRow, rungs_up_to
from clar_tune.space import Fixed, Levels, Parameter, ParameterSet, stored_levels

Place = tuple[str, str, str]
"""Graph, condition and method."""


def upgraded(row: RunRow, trials: Sequence[TrialRow]) -> RunRow:
    """The manifest of a run with all that today's manifests say.

    Older ones have the text of the space, one budget for all studies and the names of those that
    were planned; the rows of ``trials`` tell the rest, as far as studies have begun.
    """
    if row.study_plans:
        return row
    levels, begun = _levels(row), _begun(trials)
    named = [(graph, condition, method) for graph, condition, method in row.studies]
    plans = [
        _planned(row, place, begun.get(place, []), levels)
        for place in dict.fromkeys([*named, *begun])
    ]
    return replace(
        row,
        study_plans=[to_stored(plan) for plan in plans],
        graph_facts={plan.graph: to_stored(known_facts(plan.graph)) for plan in plans},
    )


def why_ranges_are_unknown(row: RunRow) -> str:
    """What is wrong with the text of an older manifest's space; empty if ranges are known."""
    if all(plan.parameters is not None for plan in row.planned):
        return ""
    try:
        stored_levels(row.space_text, row.settings, "manifest")
    except ClarTuneError as error:
        return str(error)
    return "it does not fit the trials"


def _levels(row: RunRow) -> Levels | None:
    """What methods may choose from; none if the text cannot be read any more."""
    try:
        return stored_levels(row.space_text, row.settings, "manifest")
    except ClarTuneError:
        return None


def _begun(trials: Sequence[TrialRow]) -> dict[Place, list[TrialRow]]:
    """Trials of the first search of each study that has begun, the earliest study first."""
    found: dict[Place, list[TrialRow]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.started, trial.trial)):
        own = found.setdefault((trial.graph, trial.condition, trial.method), [])
        if not own or own[0].search == trial.search:
            own.append(trial)
    return found


def _planned(
    row: RunRow, place: Place, trials: Sequence[TrialRow], levels: Levels | None
) -> PlannedStudy:
    (graph, condition, method), budget = place, row.budget
    parameters = _parameters(place, levels, [trial.params for trial in trials])
    has_search = _has_search(trials, parameters)
    pruned = has_search and budget["pruning"]
    return PlannedStudy(
        graph=graph,
        method=method,
        condition=condition,
        protocol=trials[0].protocol if trials else row.protocol,
        metric=trials[0].metric if trials else _metric(graph, condition),
        trials=budget["trials"] if has_search else 1,
        repeats=budget["repeats"] if has_search else 0,
        finals=budget["finals"],
        rungs=rungs_up_to(budget["repeats"], budget["reduction"]) if pruned else (),
        parameters=None if parameters is None else parameters.stored,
    )


def _has_search(trials: Sequence[TrialRow], parameters: ParameterSet | None) -> bool:
    """A study with nothing to search has one trial, complete without repeats."""
    if trials:
        return len(trials) > 1 or trials[0].state != "complete" or trials[0].repeats > 0
    return parameters is None or bool(parameters.searched)


def _parameters(
    place: Place, levels: Levels | None, chosen: Sequence[Params]
) -> ParameterSet | None:
    """What a study chose from; those that its condition names have one value.

    Shared parameters that its method does not know are left out once a trial tells which.
    """
    if levels is None:
        return None
    graph, condition, method = place
    known: Mapping[str, object] = {name: own[name] for own in chosen for name in own}
    found = levels.of(method, known if chosen else levels.shared.keys(), graph)
    for name in parts_of(condition):
        if name not in VARIANTS and name in known:
            found[name] = Parameter(name, Fixed(chosen[0][name]))
    try:
        return ParameterSet(tuple(found.values()))
    except ClarTuneError:  # a text that does not fit the rows
        return None


def _metric(graph: str, condition: str) -> str:
    """What a study that has not begun will be judged by."""
    variant = {name: value for name, value in parts_of(condition).items() if name in VARIANTS}
    try:
        return metric_of(variant, dataset_named(graph).metric)
    except ClarTuneError:  # a graph that this version does not know
        return "accuracy"
