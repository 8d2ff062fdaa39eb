"""Single values of a space file, each checked where it stands."""

from collections.abc import Callable, Mapping
from typing import Any

from clar_tune.records import Value
from clar_tune.space.yaml_nodes import Item
from clar_tune.validation import number, one_of, whole

Read = Callable[[Item], Value]


def read_each(item: Item, readers: Mapping[str, Read]) -> dict[str, Any]:
    """What the readers of its keys make of a mapping."""
    return {name: readers[name](entry) for name, entry in item.entries(readers).items()}


def within(low: int, high: int) -> Callable[[Item], int]:
    """Reads a whole number."""

    def read(item: Item) -> int:
        least = item.check(lambda value: whole(item.key, value, low))
        return item.check(lambda _: whole(item.key, least, low, high))

    return read


def among(kind: str, allowed: tuple[str, ...]) -> Callable[[Item], str]:
    """Reads one of some names."""
    return lambda item: item.check(lambda value: one_of(kind, value, allowed))


def number_of(item: Item) -> float:
    """Reads a number."""
    return item.check(lambda value: number(item.key, value))


def share_of_points(item: Item) -> float:
    """Reads points of a percent scale, above 0 and up to 100; as the fraction that scores are."""
    points = number_of(item)
    if not 0 < points <= 100:
        raise item.error(f"points above 0 and up to 100 are needed, got {points!r}.")
    return points / 100
