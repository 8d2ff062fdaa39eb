"""Checks of single parameter values; each returns the value or says what is allowed."""

from collections.abc import Collection

from clar_tune.errors import ParameterError, UnknownName


def one_of(name: str, value: str, allowed: Collection[str]) -> str:
    """The value, if it is one of the allowed names."""
    if value not in allowed:
        raise UnknownName(name, str(value), allowed)
    return value


def whole(name: str, value: int, low: int, high: int | None = None) -> int:
    """The value, if it is a whole number from ``low`` to ``high``."""
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= low
    if not fits or (high is not None and value > high):
        upper = "on" if high is None else f"to {high}"
        raise ParameterError(
            f"{name}: a whole number from {low} {upper} is needed, got {value!r}."
        )
    return value


def number(name: str, value: float) -> float:
    """The value, if it is a finite number."""
    if not _is_number(value):
        raise ParameterError(f"{name}: a number is needed, got {value!r}.")
    return value


def fraction(name: str, value: float, *, below_one: bool = False) -> float:
    """The value, if it lies in [0, 1], or in [0, 1) with ``below_one``."""
    if not _is_number(value) or not 0 <= value <= 1 or (below_one and value == 1):
        bracket = ")" if below_one else "]"
        raise ParameterError(f"{name}: a number in [0, 1{bracket} is needed, got {value!r}.")
    return value


def positive(name: str, value: float) -> float:
    """The value, if it is a number above zero."""
    if not _is_number(value) or value <= 0:
        raise ParameterError(f"{name}: a number above 0 is needed, got {value!r}.")
    return value


def not_negative(name: str, value: float) -> float:
    """The value, if it is a number from zero on."""
    if not _is_number(value) or value < 0:
        raise ParameterError(f"{name}: a number from 0 on is needed, got {value!r}.")
    return value


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == value and abs(value) != float("inf")
