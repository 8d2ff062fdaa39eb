"""What a whole space must fulfil: every name, condition, value and sampler must make sense."""

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from clar_tune.errors import ClarTuneError, SpaceError, UnknownName
from clar_tune.graphs import (
    VARIANTS,
    check_size,
    check_variant,
    dataset_named,
    metric_of,
    parameters_of,
    variant_of,
)
from clar_tune.models import Method
from clar_tune.records import Params, Value
from clar_tune.space.bounds import (
    MOST_CELLS,
    MOST_CHECKS,
    check_bound,
    check_studies,
    check_trainings,
)
from clar_tune.space.domains import Choice, Domain, Range, identity, written
from clar_tune.space.model import SAMPLERS, Condition, Space, condition_text
from clar_tune.space.parameters import Parameter, ParameterSet, cases
from clar_tune.space.yaml_nodes import Item
from clar_tune.training import check_objective
from clar_tune.validation import one_of


def check_values(method: Method, parameters: ParameterSet, where: str) -> None:
    """Refuse values that the method refuses: every choice, and both ends of every range."""
    defaults = method.parameters()
    for params in _probes(ParameterSet([replace(p, idle=()) for p in parameters])):
        for name, default in defaults.items():
            if default is inspect.Parameter.empty and name not in params:
                raise SpaceError(
                    f"{where}: {name} needs a value, as it has no default. Give it one."
                )
        refusal = _refusal(method, params)
        if refusal is not None:
            raise SpaceError(_blamed(method, params, parameters, refusal, where))


def _probes(parameters: ParameterSet) -> Iterator[dict[str, Value]]:
    """Configurations in which every parameter has each of its extreme values once."""
    needed = _needed(parameters)
    tried = set[tuple[tuple[str, Value], ...]]()
    for parameter in parameters:
        for value in _extremes(parameter.domain):
            wanted = {**needed[parameter.name], parameter.name: value}
            params = _configuration(parameters, wanted)
            if tuple(params.items()) not in tried:
                tried.add(tuple(params.items()))
                yield params


def _extremes(domain: Domain) -> Sequence[Value]:
    return (domain.low, domain.high) if isinstance(domain, Range) else domain.values


def _needed(parameters: ParameterSet) -> dict[str, dict[str, Value]]:
    """Of each parameter, the values of others that make it active."""
    domains: dict[str, Domain] = {}
    needed: dict[str, dict[str, Value]] = {}
    for parameter in parameters:  # after those that its `when` names
        domains[parameter.name], own = parameter.domain, dict[str, Value]()
        for name, values in parameter.when.items():
            own |= needed[name]
            own[name] = next((v for v in values if domains[name].holds(v)), None)
        needed[parameter.name] = own
    return needed


def _configuration(parameters: ParameterSet, wanted: Params) -> dict[str, Value]:
    """The first value of every parameter, but for those wanted."""
    chosen: dict[str, Value] = {}
    for parameter in parameters:
        if parameter.active(chosen):
            first = parameter.domain.at(0.0)
            chosen[parameter.name] = wanted.get(parameter.name, first)
    return chosen


def _refusal(method: Method, params: Params) -> str | None:
    try:
        method.checked(params)
    except ClarTuneError as error:
        return str(error)
    except Exception as error:  # a user's own class may raise anything
        return f"{type(error).__name__}: {error}"
    return None


def _blamed(
    method: Method, params: Params, parameters: ParameterSet, refusal: str, where: str
) -> str:
    """The refusal, at the place of the value without which there is none."""
    mends = [name for name in params if _refusal(method, _without(params, name)) is None]
    fails = [name for name in params if _refusal(method, {name: params[name]}) is not None]
    name = next(iter([*mends, *fails]), None)
    if name is None:
        return f"{where}: {dict(params)} is refused: {refusal}"
    place = next(parameter.place for parameter in parameters if parameter.name == name)
    problem = refusal.removeprefix(f"{name}: ")
    return f"{place or where}: {method.name} refuses {name}={params[name]!r}: {problem}"


def _without(params: Params, name: str) -> dict[str, Value]:
    return {other: value for other, value in params.items() if other != name}


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


def check_space(space: Space, items: Mapping[str, Item]) -> None:
    """Refuse a space that some study could not be searched in; ``items`` are those of its file."""
    with items.get("conditions", items["graphs"]).blamed():
        check_studies(space.studies)
    _check_effort(space, items)
    for method in space.methods:
        _check_conditions(space, method)
    for settings, item in items["settings"].entries().items():
        chosen = space.settings[settings]
        rules = chosen.search
        _check_names(space, settings)
        for method in _all_methods(space, settings):
            _check_when(space, settings, method)
            where = f"{item.place}, {method.name}"
            for condition in space.conditions_of(method):
                for parameters in _distinct(space, settings, method, condition):
                    check_sampler(rules.sampler, rules.pruning, parameters, where)
                    check_values(method, parameters, where)
                for graph in space.graphs if method in space.methods else ():
                    _check_task(space, settings, graph, method, condition, where)
        with item.blamed():
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
    for settings, item in items["settings"].entries().items():
        levels = space.settings[settings].levels
        for method in _all_methods(space, settings):
            for graph in (None, *levels.graphs):
                given = levels.of(method.name, method.parameters(), graph).values()
                listed = sum(len(_extremes(parameter.domain)) for parameter in given)
                with item.blamed():
                    checks += space.condition_count(method) * (1 + listed + cases(given))
                    check_bound(checks, MOST_CHECKS, what, "List fewer values or conditions.")


def _check_task(
    space: Space, settings: str, graph: str, method: Method, condition: Condition, where: str
) -> None:
    """Refuse what cannot be learned on a graph, or is too large for it."""
    variant, dataset = variant_of(condition), dataset_named(graph)
    chosen, metric = space.settings[settings], metric_of(variant, dataset.metric)
    try:
        check_size(variant, graph, dataset.facts.nodes)
        check_objective(metric, chosen.protocols[graph], chosen.training.select, method)
    except ClarTuneError as error:
        raise SpaceError(f"{where} on {graph}: {error}") from error


def _check_conditions(space: Space, method: Method) -> None:
    known, seen = method.parameters(), set[str]()
    for sweep in space.conditions:
        if sweep.methods and method.name not in sweep.methods:
            continue
        hint = " Or limit the sweep to other methods by `methods`."
        for name, values in sweep.values.items():
            place = sweep.places[name]
            if name in VARIANTS:
                _check_variant(name, values, method, place)
                continue
            kind = f"parameter of {method.name} or variant of the graph"
            _check_known(name, kind, [*known, *VARIANTS], place, hint)
        for condition in map(condition_text, sweep.conditions()):
            if condition in seen:
                place = next(iter(sweep.places.values()))
                raise SpaceError(f"{place}: {method.name} has the condition {condition} twice.")
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


def _check_names(space: Space, settings: str) -> None:
    """Every parameter must belong to the methods that it is meant for."""
    levels = space.settings[settings].levels
    anyone = {name for method in space.methods for name in method.parameters()}
    of_graphs = [parameter for own in levels.graphs.values() for parameter in own.values()]
    for parameter in (*levels.shared.values(), *of_graphs):
        _check_known(parameter.name, "parameter", anyone, parameter.place)
    for method in _all_methods(space, settings):
        known = method.parameters()
        for graph in (None, *levels.methods_on):
            for parameter in levels.of(method.name, known, graph).values():
                kind = f"parameter of {method.name}"
                _check_known(parameter.name, kind, known, parameter.place)


def _check_when(space: Space, settings: str, method: Method) -> None:
    """Every value that a ``when`` asks for must be possible under some condition."""
    levels, known = space.settings[settings].levels, method.parameters()
    for graph in (None, *levels.graphs):
        _check_when_of(space, method, levels.of(method.name, known, graph))


def _check_when_of(space: Space, method: Method, given: Mapping[str, Parameter]) -> None:
    domains: dict[str, list[Domain]] = {name: [p.domain] for name, p in given.items()}
    swept: dict[str, dict[object, Value]] = {}
    for condition in space.conditions_of(method):
        for name, value in parameters_of(condition).items():
            swept.setdefault(name, {})[identity(value)] = value
    for name, distinct in swept.items():
        domains.setdefault(name, []).append(Choice(tuple(distinct.values())))
    for parameter in given.values():
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
