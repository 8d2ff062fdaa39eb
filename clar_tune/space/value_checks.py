"""Whether a method takes every value that a space lets it choose."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace

from clar_tune.errors import ClarTuneError, SpaceError
from clar_tune.models import Method, at_users_line
from clar_tune.records import Params, Value
from clar_tune.space.domains import Domain, Range
from clar_tune.space.mistakes import Mistakes
from clar_tune.space.parameters import ParameterSet


def check_values(method: Method, parameters: ParameterSet, where: str, mistakes: Mistakes) -> None:
    """Note values that the method refuses: of every choice, and both ends of every range.

    A parameter that was refused once is left out from then on, so that others come to light.
    """
    places = {parameter.name: parameter.place or where for parameter in parameters}
    needed = _needed_of(method)
    if any(map(mistakes.at, [where, *(places.get(name, where) for name in needed)])):
        return
    for params in _probes(ParameterSet([replace(p, idle=()) for p in parameters])):
        lacks = [name for name in needed if name not in params]
        for name in lacks:
            problem = f"{where}: {name} needs a value, as it has no default. Give it one."
            mistakes.note(SpaceError(problem), f"{where}: {name}")
        left = {n: v for n, v in params.items() if not mistakes.at(places[n])}
        while not lacks and (refusal := _refusal(method, left)) is not None:
            name, error = _blamed(method, left, parameters, refusal, where)
            mistakes.note(error, places.get(name, where))
            lacks = [name] if name == "" or name in needed else []
            left = _without(left, name)
        if lacks:  # nothing else can be tried without them
            return


def _needed_of(method: Method) -> list[str]:
    """Parameters that have no default."""
    known = method.parameters()
    return [name for name, default in known.items() if default is inspect.Parameter.empty]


def _probes(parameters: ParameterSet) -> Iterator[dict[str, Value]]:
    """Configurations in which every parameter has each of its extreme values once."""
    needed = _needed(parameters)
    tried = set[tuple[tuple[str, Value], ...]]()
    for parameter in parameters:
        for value in extremes(parameter.domain):
            wanted = {**needed[parameter.name], parameter.name: value}
            params = _configuration(parameters, wanted)
            if tuple(params.items()) not in tried:
                tried.add(tuple(params.items()))
                yield params


def extremes(domain: Domain) -> Sequence[Value]:
    """Both ends of a range, or every choice."""
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
        return f"{type(error).__name__}: {error}{at_users_line(error)}"
    return None


def _blamed(
    method: Method, params: Params, parameters: ParameterSet, refusal: str, where: str
) -> tuple[str, SpaceError]:
    """The refusal, and the name of the value without which there is none, at whose place it is.

    The name is empty if no single value is to blame.
    """
    mends = [name for name in params if _refusal(method, _without(params, name)) is None]
    fails = [name for name in params if _refusal(method, {name: params[name]}) is not None]
    name = next(iter([*mends, *fails]), "")
    if not name:
        return name, SpaceError(f"{where}: {dict(params)} is refused: {refusal}")
    place = next(parameter.place for parameter in parameters if parameter.name == name)
    problem = refusal.removeprefix(f"{name}: ")
    told = f"{place or where}: {method.name} refuses {name}={params[name]!r}: {problem}"
    return name, SpaceError(told)


def _without(params: Params, name: str) -> dict[str, Value]:
    return {other: value for other, value in params.items() if other != name}
