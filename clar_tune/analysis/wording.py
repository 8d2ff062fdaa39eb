"""Numbers and lists as sentences have them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from clar_tune.metric import metric_named
from clar_tune.switches import CORRECTIONS


def counted(count: int, noun: str, nouns: str = "") -> str:
    """``1 study``, ``2 studies``."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def some(names: Iterable[str], most: int = 6) -> str:
    """All names, or the first ones and how many there are besides."""
    listed = list(names)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def probability(p: float) -> str:
    """``p = 0.012`` or ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def place(graph: str, condition: str) -> str:
    """A graph, and the condition if there is one."""
    return f"{graph} ({condition})" if condition else graph


class Named(Protocol):
    """A method on a row."""

    @property
    def graph(self) -> str: ...  # noqa: D102
    @property
    def condition(self) -> str: ...  # noqa: D102
    @property
    def method(self) -> str: ...  # noqa: D102


def named(cell: Named) -> str:
    """``gcn+clar on texas (layers=8)``."""
    return f"{cell.method} on {place(cell.graph, cell.condition)}"


class Regularized(Protocol):
    """What is of a regularizer."""

    @property
    def regularizer(self) -> str: ...  # noqa: D102


def switched(cells: Iterable[Regularized]) -> str:
    """What is switched on in some cells; of a user's own it is not known whether it corrects."""
    corrects = any(cell.regularizer in CORRECTIONS for cell in cells)
    return "penalty or correction" if corrects else "penalty"


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


def duration(seconds: float) -> str:
    """``8 s``, ``2 min 05 s``, ``3 h 20 min``, ``2 d 4 h``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def points(value: float, metric: str, half: float | None = None) -> str:
    """``+1.20 ± 0.40`` points of a difference of accuracies; errors in natural units."""
    percent = metric_named(metric).percent
    scale, form = (100, "z.2f") if percent else (1, "z.3g")
    return f"{scale * value:+{form}}" + ("" if half is None else f" ± {scale * half:{form}}")


def margin_of(margin: float) -> str:
    """``1 point``, ``0.5 points``."""
    shown = f"{100 * margin:g}"
    return f"{shown} point{'s' * (shown != '1')}"
