"""Tables too long to be read: some lines of every graph stand for all."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def excerpt(
    lines: Sequence[T], graph_of: Callable[[T], str], most: int, each: int | None = None
) -> tuple[T, ...]:
    """All lines, or the first ones of each graph if they are more than ``most``.

    ``each`` is how many of a graph; without it graphs get equal shares of ``most``.
    """
    if len(lines) <= most:
        return tuple(lines)
    share = each or max(1, most // len({graph_of(line) for line in lines}))
    seen: dict[str, int] = {}
    kept = []
    for line in lines:
        graph = graph_of(line)
        seen[graph] = seen.get(graph, 0) + 1
        if seen[graph] <= share:
            kept.append(line)
    return tuple(kept)
