"""Long tables in a terminal: some lines of every graph, and how many are left out."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from clar_tune.analysis import excerpt

LONGEST = 60
"""Lines of a table that is shown whole."""
SHOWN = 5
"""Lines of every graph that stand for those of a longer one."""

T = TypeVar("T")


def shortened(lines: Sequence[T], graph_of: Callable[[T], str]) -> tuple[T, ...]:
    """All lines, or the first ones of each graph if they are too many."""
    return excerpt(lines, graph_of, LONGEST, SHOWN)[:LONGEST]


def left_out(shown: int, all_lines: int) -> str:
    """What to say below an excerpt; nothing below a whole table."""
    if shown == all_lines:
        return ""
    return (
        f"Excerpt: {shown} of {all_lines} lines, the first of every graph. "
        "`--format csv`, `json`, `markdown` or `latex` has all."
    )
