"""What a whole space must fulfil: every name, condition, value and sampler must make sense."""

from collections.abc import Collection, Mapping

from clar_tune.errors import ClarTuneError, SpaceError, UnknownName
from clar_tune.graphs import (
    VARIANTS,
    check_size,
    check_variant,
    metric_of,
    parameters_of,
    variant_of,
)
from clar_tune.models import Method
from clar_tune.records import Value
from clar_tune.space.bounds import (
    MOST_CELLS,
    MOST_CHECKS,
    check_bound,
    check_studies,
    check_trainings,
)
from clar_tune.space.domains import Choice, Domain, Range, identity, written
from clar_tune.space.mistakes import Mistakes
from clar_tune.space.model import SAMPLERS, Condition, Space, condition_text
from clar_tune.space.parameters import Parameter, ParameterSet, cases
from clar_tune.space.value_checks import check_values, extremes
from clar_tune.space.yaml_nodes import Item
from clar_tune.training import check_objective
from clar_tune.validation import one_of


def check_sampler(sampler: str, pruning: bool, parameters: ParameterSet, where: str) -> None:
    """Refuse a sampler that cannot serve a study; ``where`` names the study in the error."""
    one_of("sampler", sampler, SAMPLERS)
    for parameter in parameters.searched:
        if sampler == "grid" and parameter.domain.count is None:
            raise SpaceError(
                f"{where}: the grid sampler needs values it can list, but {parameter.name} is "
                "continuous. Give `choices` or an integer range, or another sampler."
            )
    if sampler == "grid" and parameters.count is not None:
        remedy = "List fewer values, or take another sampler."
        check_bound(parameters.count, MOST_CELLS, "cells of a grid", remedy, where)
    if sampler == "gp" and parameters.searched and pruning:
        raise SpaceError(
            f"{where}: the gp sampler learns from complete trials only. "
            "Add `pruning: false` (--no-pruning), or take another sampler."
        )
    for parameter in parameters.searched if sampler == "gp" else ():
        if parameter.when:
            raise SpaceError(
                f"{where}: the gp sampler cannot search parameters with `when`. "
                "Remove `when`, or take another sampler."
            )
        for way in parameter.idle:
            raise SpaceError(
                f"{where}: the gp sampler cannot search {parameter.name}, which does nothing "
                f"where {condition_text(way)}. Give it one value, or take another sampler."
            )


def check_space(
    space: Space, items: Mapping[str, Item], mistakes: Mistakes, *, whole: Collection[str]
) -> None:
    """Note why some study could not be searched; ``items`` are those of the space's file.

    Args:
        space: without the parts that could not be read.
        items: those of its file.
        mistakes: what was wrong with parts that could not be read.
        whole: settings of which all parameters could be read, and all conditions.
    """
    if not space.methods or not space.settings:
        return
    with items.get("conditions", items.get("graphs", items["methods"])).blamed():
        check_studies(space.studies)
    _check_effort(space, items)
    conditions = Mistakes()
    for method in space.methods:
        _check_conditions(space, method, conditions)
    mistakes.note_all(conditions)
    blocks = items["settings"].entries()
    for settings in space.settings:
        names = Mistakes()
        _check_names(space, settings, names)
        mistakes.note_all(names)
        if settings in whole and not names and not conditions:
            _check_parameters(space, settings, blocks[settings], mistakes)
    for settings in () if mistakes else space.settings:
        _check_tasks(space, settings, blocks[settings], mistakes)


def _check_parameters(space: Space, settings: str, item: Item, mistakes: Mistakes) -> None:
    """Note what a method cannot choose from under some condition."""
    rules, waits = space.settings[settings].search, Mistakes()
    for method in _all_methods(space, settings):
        wrong = Mistakes()
        _check_when(space, settings, method, wrong)
        if wrong:
            _check_when(space, settings, method, waits)  # what several methods share is told once
        where = f"{item.place}, {method.name}"
        for condition in () if wrong else space.conditions_of(method):
            with mistakes.noted():
                for parameters in _distinct(space, settings, method, condition):
                    with mistakes.noted(f"{item.place}, sampler"):
                        check_sampler(rules.sampler, rules.pruning, parameters, where)
                    check_values(method, parameters, where, mistakes)
    mistakes.note_all(waits)


def _check_tasks(space: Space, settings: str, item: Item, mistakes: Mistakes) -> None:
    """Note what cannot be learned on a graph, once for each, and too many trainings."""
    for method in space.methods:
        where = f"{item.place}, {method.name}"
        for condition in space.conditions_of(method):
            for graph in space.graphs:
                with mistakes.noted(f"{item.place}, {graph}"):
                    _check_task(space, settings, graph, method, condition, where)
    with mistakes.noted(), item.blamed():
        trainings = 0
        for most in space.most_by_study(settings):
            trainings += most
            check_trainings(trainings)


def _all_methods(space: Space, settings: str) -> list[Method]:
    """Those of the space, and one of each other regularizer that a command may name."""
    named = space.settings[settings].levels.regularizers
    known = {method.regularizer for method in space.methods}
    backbone = space.methods[0].backbone
    return [*space.methods, *(Method(backbone, name) for name in named if name not in known)]


def _distinct(
    space: Space, settings: str, method: Method, condition: Condition
) -> list[ParameterSet]:
    """What a method chooses from on any graph, and on those with a word of their own."""
    special = space.settings[settings].levels.graphs
    usual = () if set(space.graphs) <= set(special) else (None,)
    return [space.parameters(settings, method, condition, graph) for graph in (*usual, *special)]


def _check_effort(space: Space, items: Mapping[str, Item]) -> None:
    """Refuse what would take long to check."""
    checks, what = 0, "values to be checked under conditions"
    for settings, chosen in space.settings.items():
        item, levels = items["settings"].entries()[settings], chosen.levels
        for method in _all_methods(space, settings):
            for graph in (None, *levels.graphs):
                given = levels.of(method.name, method.parameters(), graph).values()
                listed = sum(len(extremes(parameter.domain)) for parameter in given)
                with item.blamed():
                    checks += space.condition_count(method) * (1 + listed + cases(given))
                    check_bound(checks, MOST_CHECKS, what, "List fewer values or conditions.")


def _check_task(
    space: Space, settings: str, graph: str, method: Method, condition: Condition, where: str
) -> None:
    """Refuse what cannot be learned on a graph, or is too large for it."""
    variant, dataset = variant_of(condition), space.lookup.dataset(graph)
    chosen, metric = space.settings[settings], metric_of(variant, dataset.metric)
    try:
        check_size(variant, graph, dataset.facts.nodes)
        check_objective(metric, chosen.protocols[graph], chosen.training.select, method)
    except ClarTuneError as error:
        raise SpaceError(f"{where} on {graph}: {error}") from error


def _check_conditions(space: Space, method: Method, mistakes: Mistakes) -> None:
    known, seen = method.parameters(), set[str]()
    for sweep in space.conditions:
        if sweep.methods and method.name not in sweep.methods:
            continue
        hint = " Or limit the sweep to other methods by `methods`."
        for name, values in sweep.values.items():
            place = sweep.places[name]
            with mistakes.noted(place):
                if name in VARIANTS:
                    _check_variant(name, values, method, place)
                    continue
                kind = f"parameter of {method.name} or variant of the graph"
                _check_known(name, kind, [*known, *VARIANTS], place, hint)
        for condition in map(condition_text, sweep.conditions()):
            if condition in seen:
                place = next(iter(sweep.places.values()))
                problem = f"{place}: {method.name} has the condition {condition} twice."
                mistakes.note(SpaceError(problem), place)
            seen.add(condition)


def _check_variant(name: str, values: Collection[Value], method: Method, place: str) -> None:
    """Refuse values of a variant, and methods whose own parameter it would hide."""
    if name in method.parameters():
        raise SpaceError(
            f"{place}: {name} is a variant of the graph, and {method.name} has a parameter of "
            "that name. Rename the parameter."
        )
    for value in values:
        try:
            check_variant({name: value})
        except ClarTuneError as error:
            raise SpaceError(f"{place}: {str(error).removeprefix(f'{name}: ')}") from error


def _check_names(space: Space, settings: str, mistakes: Mistakes) -> None:
    """Every parameter must belong to the methods that it is meant for."""
    levels = space.settings[settings].levels
    anyone = {name for method in space.methods for name in method.parameters()}
    of_graphs = [parameter for own in levels.graphs.values() for parameter in own.values()]
    for parameter in (*levels.shared.values(), *of_graphs):
        with mistakes.noted(parameter.place):
            _check_known(parameter.name, "parameter", anyone, parameter.place)
    for method in _all_methods(space, settings):
        known = method.parameters()
        for graph in (None, *levels.methods_on):
            for parameter in levels.of(method.name, known, graph).values():
                kind = f"parameter of {method.name}"
                with mistakes.noted(parameter.place):
                    _check_known(parameter.name, kind, known, parameter.place)


def _check_when(space: Space, settings: str, method: Method, mistakes: Mistakes) -> None:
    """Every value that a ``when`` asks for must be possible under some condition."""
    levels, known = space.settings[settings].levels, method.parameters()
    for graph in (None, *levels.graphs):
        _check_when_of(space, method, levels.of(method.name, known, graph), mistakes)


def _check_when_of(
    space: Space, method: Method, given: Mapping[str, Parameter], mistakes: Mistakes
) -> None:
    domains: dict[str, list[Domain]] = {name: [p.domain] for name, p in given.items()}
    swept: dict[str, dict[object, Value]] = {}
    for condition in space.conditions_of(method):
        for name, value in parameters_of(condition).items():
            swept.setdefault(name, {})[identity(value)] = value
    for name, distinct in swept.items():
        domains.setdefault(name, []).append(Choice(tuple(distinct.values())))
    for parameter in given.values():
        with mistakes.noted(parameter.place):
            for name, values in parameter.when.items():
                _check_known(name, f"parameter given to {method.name}", domains, parameter.place)
                for value in values:
                    if not any(domain.holds(value) for domain in domains[name]):
                        allowed = [text for domain in domains[name] for text in _listed(domain)]
                        unknown = UnknownName(f"value of {name}", written(value), allowed)
                        raise SpaceError(f"{parameter.place}.when: {unknown}")


def _check_known(
    name: str, kind: str, allowed: Collection[str], place: str, hint: str = ""
) -> None:
    if name not in allowed:
        raise SpaceError(f"{place}: {UnknownName(kind, name, allowed)}{hint}")


def _listed(domain: Domain) -> list[str]:
    return [str(domain)] if isinstance(domain, Range) else [written(v) for v in domain.values]
