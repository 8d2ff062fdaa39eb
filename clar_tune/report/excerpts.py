"""Tables too long to be read: some lines of every graph, and where all of them are."""

from collections.abc import Callable, Sequence
from typing import TypeVar

COMPARE_HAS_ALL = "clar-tune compare --format csv prints all."

T = TypeVar("T")


def excerpt(items: Sequence[T], graph_of: Callable[[T], str], most: int) -> tuple[T, ...]:
    """All items, or the first of each graph, in equal shares, if they are more than ``most``."""
    if len(items) <= most:
        return tuple(items)
    share = max(1, most // len({graph_of(item) for item in items}))
    seen: dict[str, int] = {}
    kept = []
    for item in items:
        graph = graph_of(item)
        seen[graph] = seen.get(graph, 0) + 1
        if seen[graph] <= share:
            kept.append(item)
    return tuple(kept)


def left_out(shown: int, all_items: int, all_in: str) -> str:
    """What to say of an excerpt; nothing of what is whole."""
    if shown == all_items:
        return ""
    return f" Excerpt: {shown:,} of {all_items:,} lines, the first of every graph; {all_in}"
