"""What the studies of a run get, in words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from clar_tune.rows import PlannedStudy

Budget = Mapping[str, Any]
"""That of a manifest: what is the rule for all of its studies."""


def repeats_told(budget: Budget, planned: Iterable[PlannedStudy]) -> tuple[int, str]:
    """Repeats of most graphs, and which have others: 9 and ``, 27 on texas, cornell``."""
    own = {study.graph: study.repeats for study in planned if study.repeats}
    numbers = Counter(own.values()).most_common() or [(budget["repeats"], 0)]
    others = [
        f", {number} on {', '.join(graph for graph in own if own[graph] == number)}"
        for number, _ in numbers[1:]
    ]
    return numbers[0][0], "".join(others)


def finals_told(budget: Budget) -> str:
    """``20 finals``, or between which numbers their precision decides."""
    precision = budget.get("precision")
    if not precision:
        return f"{budget['finals']} finals"
    least, most = precision["at_least"], precision["at_most"]
    width = f"{100 * precision['half_width']:g}"
    return f"{least} to {most} finals (intervals of effects within ± {width} points)"
