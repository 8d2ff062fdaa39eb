"""Parameters that belong together, some only where others have certain values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

from clar_tune.errors import SpaceError
from clar_tune.records import Params, Value, to_stored
from clar_tune.space.bounds import MOST_CASES, MOST_PARAMETERS, check_bound
from clar_tune.space.domains import Domain, domain_from_stored, identity, same


@dataclass(frozen=True)
class Parameter:
    """A name and what it may be; with ``when``, only where others have one of some values."""

    name: str
    domain: Domain
    when: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    place: str = field(default="", compare=False)
    """Where a file says so: ``space.yaml:7: settings.tuned.shared.lr``."""
    idle: tuple[Params, ...] = ()
    """Where it does nothing: beside the values of any of these ways it is not searched."""

    def active(self, chosen: Mapping[str, Value]) -> bool:
        """Whether it has a value beside those chosen; an inactive name is not in ``chosen``."""
        wanted = not self.when or all(
            name in chosen and identity(chosen[name]) in values
            for name, values in self._wanted.items()
        )
        return wanted and not any(_holds(way, chosen) for way in self.idle)

    @property
    def conditional(self) -> bool:
        """Whether it is active beside some values of others only."""
        return bool(self.when or self.idle)

    @cached_property
    def _wanted(self) -> dict[str, frozenset[tuple[bool, Value]]]:
        return {name: frozenset(map(identity, values)) for name, values in self.when.items()}


def _holds(way: Params, chosen: Mapping[str, Value]) -> bool:
    return all(name in chosen and same(chosen[name], value) for name, value in way.items())


@dataclass(frozen=True)
class ParameterSet:
    """All parameters of one study, each after those that decide whether it is active.

    What fixed values already decide is settled at once: a ``when`` that always holds is dropped,
    and so are ways to be idle that never hold, and a parameter that is never active.
    """

    parameters: Sequence[Parameter]
    dropped: frozenset[str] = field(default=frozenset(), init=False, compare=False)
    """Names of those that are never active, and keep their defaults."""

    def __post_init__(self) -> None:
        remedy = "Leave out those that keep their default."
        check_bound(len(self.parameters), MOST_PARAMETERS, "parameters of a study", remedy)
        given = {parameter.name for parameter in self.parameters}
        settled = tuple(_settled(_in_order(self.parameters)))
        object.__setattr__(self, "parameters", settled)
        object.__setattr__(self, "dropped", given.difference(p.name for p in settled))

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    @property
    def searched(self) -> tuple[Parameter, ...]:
        """Those with more than one value."""
        return tuple(p for p in self.parameters if p.domain.count != 1)

    @property
    def stored(self) -> dict[str, dict[str, Any]]:
        """As a manifest keeps them, by name."""
        return {parameter.name: _written(parameter) for parameter in self.parameters}

    @staticmethod
    def from_stored(content: Mapping[str, Mapping[str, Any]]) -> "ParameterSet":
        """As read from a manifest."""
        return ParameterSet([_read(name, own) for name, own in content.items()])

    @property
    def conditional(self) -> bool:
        """Whether some searched parameter is not always active."""
        return any(parameter.conditional for parameter in self.searched)

    @cached_property
    def count(self) -> int | None:
        """How many different configurations there are; none if some values are continuous."""
        if any(parameter.domain.count is None for parameter in self.parameters):
            return None
        cases(self.parameters)
        deciding = _deciding(self.parameters)
        return _count(self.parameters, {n: list(v.values()) for n, v in deciding.items()}, {})

    def configurations(self) -> Iterator[dict[str, Value]]:
        """Every configuration of a finite set; the last parameter changes fastest."""
        return _configurations(self.parameters, {})

    def active_of(self, params: Params) -> dict[str, Value]:
        """A configuration without what is not active in it: equal for all that train the same."""
        left = {name: value for name, value in params.items() if name not in self.dropped}
        for parameter in self.parameters:
            if not parameter.active(left):
                left.pop(parameter.name, None)
        return left

    def at(self, unit: Sequence[float]) -> dict[str, Value]:
        """The configuration at a point of the unit cube, one coordinate per searched parameter."""
        places = {p.name: u for p, u in zip(self.searched, unit, strict=True)}
        chosen: dict[str, Value] = {}
        for parameter in self.parameters:
            if parameter.active(chosen):
                chosen[parameter.name] = parameter.domain.at(places.get(parameter.name, 0.0))
        return chosen


def cases(parameters: Iterable[Parameter]) -> int:
    """How many combinations of values tell whether some parameters are active."""
    count = prod(len(values) + 1 for values in _deciding(parameters).values())
    remedy = "Let fewer parameters depend on others, or on fewer values."
    check_bound(count, MOST_CASES, "cases that `when` tells apart", remedy)
    return count


def _deciding(parameters: Iterable[Parameter]) -> dict[str, dict[object, Value]]:
    """Of each parameter on which another depends, the values that it depends on."""
    found: dict[str, dict[object, Value]] = {}
    for parameter in parameters:
        ways = [(name, (value,)) for way in parameter.idle for name, value in way.items()]
        for name, values in (*parameter.when.items(), *ways):
            known = found.setdefault(name, {})
            for value in values:
                known.setdefault(identity(value), value)
    return found


def _written(parameter: Parameter) -> dict[str, Any]:
    when = {name: list(values) for name, values in parameter.when.items()}
    idle = [dict(way) for way in parameter.idle]
    decided = {"when": when, "idle": idle}
    return {**to_stored(parameter.domain), **{key: of for key, of in decided.items() if of}}


def _read(name: str, content: Mapping[str, Any]) -> Parameter:
    own = {key: value for key, value in content.items() if key not in ("when", "idle")}
    when = {other: tuple(values) for other, values in content.get("when", {}).items()}
    return Parameter(name, domain_from_stored(own), when, idle=tuple(content.get("idle", ())))


def _in_order(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Each after those it depends on, otherwise as given."""
    names = {parameter.name for parameter in parameters}
    waiting, ordered, placed = list(parameters), list[Parameter](), set[str]()
    for parameter in parameters:
        if unknown := [name for name in parameter.when if name not in names]:
            raise SpaceError(
                f"{parameter.place or parameter.name}: `when` names {unknown[0]!r}, which has no "
                f"value here. Give it one, or name one of {', '.join(sorted(names))}."
            )
    while waiting:
        able = [p for p in waiting if placed.issuperset(p.when)]
        # Where a `when` goes the other way, it stands, and what is idle is searched.
        free = (p for p in able if not {n for way in p.idle for n in way} & (names - placed))
        ready = next(free, None) or next(iter(able), None)
        if ready is None:
            first, circle = waiting[0], ", ".join(parameter.name for parameter in waiting)
            raise SpaceError(
                f"{first.place or first.name}: `when` goes round in a circle ({circle}). "
                "Let one of them depend on none of the others."
            )
        waiting.remove(ready)
        ordered.append(ready)
        placed.add(ready.name)
    return ordered


def _settled(ordered: Sequence[Parameter]) -> Iterator[Parameter]:
    known: dict[str, Value] = {}  # values that no search can change
    searched: dict[str, Domain] = {}
    never: set[str] = set()
    for parameter in ordered:
        ways = tuple(_open_ways(parameter, known, searched))
        decided = {name: v for name, v in parameter.when.items() if name in known or name in never}
        if {} in ways or (decided and not Parameter("", parameter.domain, decided).active(known)):
            never.add(parameter.name)
            continue
        left = {name: v for name, v in parameter.when.items() if name not in decided}
        if not left and parameter.domain.count == 1:
            known[parameter.name] = parameter.domain.at(0.0)
        else:
            searched[parameter.name] = parameter.domain
        yield replace(parameter, when=left, idle=ways)


def _open_ways(
    parameter: Parameter, known: Params, searched: Mapping[str, Domain]
) -> Iterator[Params]:
    """Its ways to be idle that may hold, as far as they are open; a continuous value never is."""
    for way in parameter.idle:
        left = {name: value for name, value in way.items() if name not in known}
        may_hold = all(
            name in searched and searched[name].count is not None and searched[name].holds(value)
            for name, value in left.items()
        )
        if may_hold and _holds({n: v for n, v in way.items() if n in known}, known):
            yield left


def _count(
    parameters: Sequence[Parameter],
    deciding: Mapping[str, Sequence[Value]],
    chosen: Mapping[str, Value],
) -> int:
    """Configurations of ``parameters``; ``deciding`` holds the values that others depend on.

    All other values count alike, so only these are walked through.
    """
    if not parameters:
        return 1
    first, rest = parameters[0], parameters[1:]
    if not first.active(chosen):
        return _count(rest, deciding, chosen)
    special = [value for value in deciding.get(first.name, ()) if first.domain.holds(value)]
    others = (first.domain.count or 0) - len(special)
    total = sum(_count(rest, deciding, {**chosen, first.name: value}) for value in special)
    return total + (others and others * _count(rest, deciding, chosen))


def _configurations(
    parameters: Sequence[Parameter], chosen: dict[str, Value]
) -> Iterator[dict[str, Value]]:
    if not parameters:
        yield chosen
        return
    first, rest = parameters[0], parameters[1:]
    if not first.active(chosen):
        yield from _configurations(rest, chosen)
        return
    for value in first.domain.values:
        yield from _configurations(rest, {**chosen, first.name: value})
