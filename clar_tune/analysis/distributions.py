"""Ranges and choices in Optuna's words."""

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from clar_tune.analysis.search_space import place
from clar_tune.records import Value
from clar_tune.space.domains import Choice, Range, written


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
