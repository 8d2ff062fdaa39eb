"""Conditions as texts, and which plain backbone a regularized method is compared with."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

Other = TypeVar("Other")

_NEXT = re.compile(r",(?=\w+=)")


def parts_of(condition: str) -> dict[str, str]:
    """``layers=8,clamp=1`` by key; a value may hold commas."""
    pairs = (pair.partition("=") for pair in _NEXT.split(condition) if pair)
    return {key: value for key, _, value in pairs}


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
