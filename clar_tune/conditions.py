"""Conditions as texts, and which plain backbone a regularized method is compared with."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from clar_tune.errors import ParameterError
from clar_tune.records import Value

Other = TypeVar("Other")

_NEXT = re.compile(r",(?=\w+=)")


def parts_of(condition: str) -> dict[str, str]:
    """``layers=8,clamp=1`` by key; a value may hold commas."""
    pairs = (pair.partition("=") for pair in _NEXT.split(condition) if pair)
    return {key: value for key, _, value in pairs}


def values_of(condition: str) -> dict[str, Value]:
    """The values of a condition by key, as they were before they became text."""
    return {key: read_value(key, text) for key, text in parts_of(condition).items()}


def read_value(key: str, text: str) -> Value:
    """What people mean by a text: YAML, so that ``null`` and ``1e-3`` are no words."""
    import yaml  # here, as conditions are split where nothing of them is read

    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ParameterError(f"{key}={text}: the value cannot be read.") from error
    if isinstance(value, str):
        value = _number(value)
    if not (value is None or isinstance(value, bool | int | float | str)):
        raise ParameterError(f"{key}={text}: a single value is needed, got {value!r}.")
    return value


def _number(text: str) -> float | str:
    """YAML takes ``1e-3`` for text; people mean a number."""
    try:
        return float(text)
    except ValueError:
        return text


def most_alike(
    own: Mapping[str, str],
    others: Iterable[tuple[Mapping[str, str], Other]],
    variants: Collection[str],
) -> Other | None:
    """Of some conditions with what stands under each, that of the one most like ``own``.

    A sweep over a regularizer's own parameter leaves its backbone without that key; keys that
    change the graph (``variants``) must agree.
    """
    found = [
        (len(own) - len(condition), sorted(condition.items()), other)
        for condition, other in others
        if condition.items() <= own.items()
        and not (own.keys() - condition.keys()).intersection(variants)
    ]
    return min(found, key=lambda one: one[:2])[2] if found else None
