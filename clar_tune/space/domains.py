"""Ranges, choices and fixed values of one parameter."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clar_tune.errors import SpaceError
from clar_tune.records import Value, from_stored, stored_as


@stored_as("low", "high", "log", "integer")
@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; whole ones only with ``integer``."""

    low: float
    high: float
    log: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SpaceError(f"the range {self} is empty. `low` must be below `high`.")
        if not math.isfinite(float(self.high) - float(self.low)):
            raise SpaceError(f"the range {self} is too wide. Narrow it to the values that matter.")
        if self.log and self.low <= 0:
            raise SpaceError(
                f"a log range cannot start at {self.low}. "
                "Start above zero (1e-6, say), drop `log: true`, or list `choices`."
            )
        if self.integer and not (isinstance(self.low, int) and isinstance(self.high, int)):
            raise SpaceError(
                f"an integer range needs whole ends, got {self.low} to {self.high}. "
                "Write them without a point, or drop `integer: true`."
            )

    def __str__(self) -> str:
        whole, log = ", whole" if self.integer else "", ", log" if self.log else ""
        return f"{self.low} to {self.high}{whole}{log}"

    @property
    def count(self) -> int | None:
        """How many values there are; none if they are continuous."""
        return int(self.high) - int(self.low) + 1 if self.integer else None

    @property
    def values(self) -> Sequence[Value]:
        """Every value, ascending."""
        if not self.integer:
            raise SpaceError(f"the values of {self} cannot be listed.")
        return range(int(self.low), int(self.high) + 1)

    def at(self, u: float) -> Value:
        """The value at ``u`` of the way, from 0 to below 1."""
        half = 0.5 if self.integer else 0.0  # the ends of whole numbers get their full share
        low, high = self.low - half, self.high + half
        value = low * (high / low) ** u if self.log else low + u * (high - low)
        if self.integer:
            value = math.floor(value + half)
        return min(max(value, self.low), self.high)

    def holds(self, value: Value) -> bool:
        """Whether the value can be chosen."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return self.low <= value <= self.high and (not self.integer or value == int(value))


@stored_as("values")
@dataclass(frozen=True)
class Choice:
    """One of some values."""

    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise SpaceError("there is nothing to choose from. Give at least one value.")
        seen = set[tuple[bool, Value]]()
        for value in self.values:
            if identity(value) in seen:
                raise SpaceError(f"the choice {value!r} stands twice. Keep one of them.")
            seen.add(identity(value))

    def __str__(self) -> str:
        return ", ".join(map(written, self.values))

    @property
    def count(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def ordered(self) -> bool:
        """Whether they are numbers in ascending order, so that neighbours are alike."""
        numbers = [v for v in self.values if isinstance(v, int | float) and not _is_bool(v)]
        return len(numbers) == len(self.values) and numbers == sorted(numbers)

    def at(self, u: float) -> Value:
        """The value at ``u`` of the way, from 0 to below 1."""
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]

    def holds(self, value: Value) -> bool:
        """Whether the value can be chosen."""
        return identity(value) in self._identities

    @cached_property
    def _identities(self) -> frozenset[tuple[bool, Value]]:
        return frozenset(map(identity, self.values))


@stored_as("value")
@dataclass(frozen=True, slots=True)
class Fixed:
    """One value that is not searched."""

    value: Value

    count = 1

    def __str__(self) -> str:
        return written(self.value)

    @property
    def values(self) -> tuple[Value, ...]:
        """The one value."""
        return (self.value,)

    def at(self, u: float) -> Value:
        """The one value."""
        return self.value

    def holds(self, value: Value) -> bool:
        """Whether it is this one."""
        return same(value, self.value)


Domain = Range | Choice | Fixed


def domain_from_stored(content: Mapping[str, Any]) -> Domain:
    """As read from a manifest."""
    if "values" in content:
        return from_stored(Choice, content)
    return from_stored(Fixed, content) if "value" in content else from_stored(Range, content)


def written(value: Value) -> str:
    """The value as YAML writes it."""
    return value if isinstance(value, str) else json.dumps(value)


def identity(value: Value) -> tuple[bool, Value]:
    """What equal values share, where ``True`` is not ``1``."""
    return _is_bool(value), value


def same(first: Value, second: Value) -> bool:
    """Equal, where ``True`` is not ``1``."""
    return identity(first) == identity(second)


def _is_bool(value: Value) -> bool:
    return isinstance(value, bool)
