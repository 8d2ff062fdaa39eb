"""Values of parameters, tried on the method that will get them."""

import inspect
from collections.abc import Iterator, Mapping, Sequence

from clar_tune.errors import ClarTuneError, SpaceError
from clar_tune.models.method import Method
from clar_tune.records import Params, Value
from clar_tune.space.domains import Domain, Range
from clar_tune.space.parameters import Parameter, ParameterSet


def check_values(method: Method, parameters: ParameterSet, where: str) -> None:
    """Refuse values that the method refuses: every choice, and both ends of every range."""
    for params in _probes(parameters):
        for name, default in method.parameters().items():
            if default is inspect.Parameter.empty and name not in params:
                raise SpaceError(
                    f"{where}: {name} needs a value, as it has no default. Give it one."
                )
        refusal = _refusal(method, params)
        if refusal is not None:
            raise SpaceError(_blamed(method, params, parameters, refusal, where))


def _probes(parameters: ParameterSet) -> Iterator[dict[str, Value]]:
    """Configurations in which every parameter has each of its extreme values once."""
    by_name = {parameter.name: parameter for parameter in parameters}
    tried: list[dict[str, Value]] = []
    for parameter in parameters:
        for value in _extremes(parameter.domain):
            wanted = {**_needed(parameter, by_name), parameter.name: value}
            params = _configuration(parameters, wanted)
            if params not in tried:
                tried.append(params)
                yield params


def _extremes(domain: Domain) -> Sequence[Value]:
    return (domain.low, domain.high) if isinstance(domain, Range) else domain.values


def _needed(parameter: Parameter, by_name: Mapping[str, Parameter]) -> dict[str, Value]:
    """Values of others that make a parameter active."""
    needed: dict[str, Value] = {}
    for name, values in parameter.when.items():
        needed.update(_needed(by_name[name], by_name))
        needed[name] = next((v for v in values if by_name[name].domain.holds(v)), None)
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
