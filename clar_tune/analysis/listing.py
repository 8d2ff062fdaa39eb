"""Cells of a table in a sentence: method by method, word by word, along the rows of a sweep."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from clar_tune.analysis.wording import Named
from clar_tune.conditions import parts_of

MOST_METHODS = 12
MOST_PLACES = 10
"""Places that are named for one word on one method."""


C = TypeVar("C", bound=Named)


def by_method(
    cells: Sequence[C],
    word: Callable[[C], str],
    told: Callable[[C], str],
    words: Mapping[str, str],
) -> str:
    """``gcn+clar: better at layers=8 (+1.20), 16 (+2.10); undecided at layers=2 (+0.10)``.

    Args:
        cells: what is listed.
        word: what is said of a cell.
        told: what stands behind its place.
        words: all that can be said, in its order, and how it is told.
    """
    one_graph = len({cell.graph for cell in cells}) < 2
    methods = list(dict.fromkeys(cell.method for cell in cells))
    parts = []
    for method in methods[:MOST_METHODS]:
        own = [cell for cell in cells if cell.method == method]
        groups = {each: [cell for cell in own if word(cell) == each] for each in words}
        listed = [
            f"{words[each]}{_places(found, told, one_graph=one_graph)}"
            for each, found in groups.items()
            if found
        ]
        parts.append(f"{method}: {'; '.join(listed)}")
    more = len(methods) - MOST_METHODS
    return ". ".join([*parts, *([f"And {more} more methods"] if more > 0 else [])])


def _places(cells: Sequence[C], told: Callable[[C], str], *, one_graph: bool) -> str:
    """`` on cora at layers=2 (+1.20), 4 (+0.10), on texas at layers=2 (+3.00)``."""
    found, graph, key = [], "", ""
    for cell in cells[:MOST_PLACES]:
        own, value = _key_and_value(cell.condition)
        known = one_graph or cell.graph == graph
        at = value if own and (cell.graph, own) == (graph, key) else f"at {cell.condition}"
        where = [f"on {cell.graph}"] * (not known) + [at] * bool(cell.condition)
        number = told(cell)
        found.append(" ".join([*where, *([f"({number})"] if number else [])]))
        graph, key = cell.graph, own
    more = f" and {len(cells) - MOST_PLACES} more" if len(cells) > MOST_PLACES else ""
    return f" {', '.join(found)}{more}"


def _key_and_value(condition: str) -> tuple[str, str]:
    """Of a condition with one key alone, which need not be said twice."""
    parts = parts_of(condition)
    return next(iter(parts.items())) if len(parts) == 1 else ("", "")
