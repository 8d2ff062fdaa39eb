"""What makes scores say less than they seem to, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.records import Row, Score
from clar_tune.analysis.wording import place, points, some


def shifted_rows(rows: Sequence[Row]) -> Iterator[str]:
    """Rows whose accuracies are an answer to another question."""
    much = [row for row in rows if row.is_shifted]
    if much:
        listed = some(f"{place(row.graph, row.condition)} {row.shift:.2f}" for row in much)
        yield (
            f"Test nodes have other class shares than training nodes (label shift {listed}): "
            "there a gain of accuracy may be a step towards the large classes; read balanced "
            "accuracy beside it."
        )


def below_floor(scores: Sequence[Score], rows: Sequence[Row]) -> Iterator[str]:
    """Methods that do no better than a constant answer."""
    floors = {(row.graph, row.condition): row for row in rows}
    below = [score for score in scores if score.above_floor is False]
    graphs = dict.fromkeys((score.graph, score.condition) for score in below)
    parts = []
    for graph, condition in graphs:
        row = floors[graph, condition]
        methods = [s.method for s in below if (s.graph, s.condition) == (graph, condition)]
        constant = points(row.floor or 0.0, row.metric).lstrip("+")
        parts.append(f"{some(methods)} on {place(graph, condition)} (constant {constant})")
    if parts:
        yield f"Not above a constant answer: {some(parts)}."
