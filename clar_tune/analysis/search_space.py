"""What the trials of a stored study chose from, and what each of them chose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from clar_tune.analysis.runs import StudyView
from clar_tune.records import Params, Value
from clar_tune.space import Choice, ParameterSet, Range, same, written

LOG_SPAN = 20.0
"""Positive numbers whose largest is this many times their smallest are taken for a log range."""


@dataclass(frozen=True, slots=True)
class Searched:
    """The search space of a study as its trials met it."""

    domains: Mapping[str, Range | Choice]
    chosen: Mapping[int, Params]
    """By trial, its values of searched parameters, without those that were not active."""
    fixed: Params
    """Values that all trials share because they were not searched."""


def searched(study: StudyView) -> Searched:
    """As the manifest says; from the values alone where that does not tell, or not what is so."""
    rows = {trial.trial: trial.params for trial in study.trials}
    if study.planned.parameters is not None:
        parameters = ParameterSet.from_stored(study.planned.parameters)
        chosen = {number: _active(parameters, row) for number, row in rows.items()}
        whole = {number: values for number, values in chosen.items() if values is not None}
        if len(whole) == len(rows):
            domains = {
                p.name: p.domain
                for p in parameters.searched
                if isinstance(p.domain, Range | Choice)
            }
            return Searched(domains, whole, _shared(rows.values(), domains))
    domains = _inferred(list(rows.values()))
    chosen_of_all = {
        number: {name: row[name] for name in domains if name in row}
        for number, row in rows.items()
    }
    return Searched(domains, chosen_of_all, _shared(rows.values(), domains))


def place(domain: Choice, value: Value) -> int:
    """Where a value stands among the choices; ``1`` and ``1.0`` are one, ``True`` is not."""
    return next(n for n, choice in enumerate(domain.values) if same(value, choice))


def _active(parameters: ParameterSet, row: Params) -> dict[str, Value] | None:
    """The searched values of a configuration; ``None`` if these parameters cannot give it."""
    chosen: dict[str, Value] = {}
    for parameter in parameters:
        if parameter.active(chosen):
            if parameter.name not in row or not parameter.domain.holds(row[parameter.name]):
                return None
            chosen[parameter.name] = row[parameter.name]
    names = {parameter.name for parameter in parameters.searched}
    return {name: value for name, value in chosen.items() if name in names}


def _shared(rows: Iterable[Params], domains: Mapping[str, object]) -> dict[str, Value]:
    first = next(iter(rows))
    return {name: value for name, value in first.items() if name not in domains}


def _inferred(rows: Sequence[Params]) -> dict[str, Range | Choice]:
    names = dict.fromkeys(name for row in rows for name in row)
    found = {name: [row[name] for row in rows if name in row] for name in names}
    domains = {name: _domain(values) for name, values in found.items()}
    return {name: domain for name, domain in domains.items() if domain is not None}


def _domain(values: Sequence[Value]) -> Range | Choice | None:
    """A range if most values differ, as numbers of a range do; ``None`` if none differs."""
    distinct = list({(isinstance(value, bool), value): value for value in values}.values())
    if len(distinct) == 1:
        return None
    numbers = [v for v in distinct if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(distinct):
        return Choice(tuple(sorted(distinct, key=written)))
    low, high = min(numbers), max(numbers)
    if 2 * len(distinct) <= len(values):
        return Choice(tuple(sorted(numbers)))
    whole = all(isinstance(number, int) for number in numbers)
    return Range(low, high, log=low > 0 and high >= LOG_SPAN * low, integer=whole)


def range_of(domain: Range) -> BaseDistribution:
    """The same range."""
    if domain.integer:
        return IntDistribution(int(domain.low), int(domain.high), log=domain.log)
    return FloatDistribution(domain.low, domain.high, log=domain.log)


def readable_distribution(domain: Range | Choice) -> BaseDistribution:
    """For people: choices are the values themselves."""
    if isinstance(domain, Range):
        return range_of(domain)
    return CategoricalDistribution(_readable(domain))


def readable_value(domain: Range | Choice, value: Value) -> Value:
    """A value as its ``readable_distribution`` holds it."""
    return _readable(domain)[place(domain, value)] if isinstance(domain, Choice) else value


def _readable(domain: Choice) -> tuple[Value, ...]:
    """The values, or their texts where Optuna would take two of them for one, as 1 and true."""
    alike = len(set(domain.values)) < len(domain.values)
    return tuple(map(written, domain.values)) if alike else domain.values
