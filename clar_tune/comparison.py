"""Finals of winners side by side: mean test score of every method, and its paired gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from clar_tune.overview import StudyView


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What the finals of one study say."""

    graph: str
    method: str
    condition: str
    search: int
    metric: str
    finals: int
    mean: float
    spread: float | None
    """Standard deviation over finals; none for a single one."""
    gain: float | None
    """Mean paired difference to the same backbone without a regularizer."""
    penalty_active: float | None
    trials: int
    repeats: int
    seconds: float
    full: bool
    """Whether the winner had all the repeats asked for."""
    used_up: bool
    """Whether the search ended early because no configuration was left."""


def compare(studies: Sequence[StudyView]) -> list[Cell]:
    """One cell per study whose winner has finals."""
    by_name = {(s.graph, s.method, s.condition, s.search): s for s in studies}
    cells = []
    for study in studies:
        backbone, _, regularizer = study.method.partition("+")
        # A sweep over a regularizer's own parameter leaves the backbone without a condition.
        plain = by_name.get((study.graph, backbone, study.condition, study.search)) or by_name.get(
            (study.graph, backbone, "", study.search)
        )
        if study.finals:
            cells.append(_cell(study, plain if regularizer else None))
    return cells


def _cell(study: StudyView, plain: StudyView | None) -> Cell:
    scores = {final["repeat"]: final["test_score"] for final in study.finals}
    base = {final["repeat"]: final["test_score"] for final in plain.finals} if plain else {}
    gains = [score - base[number] for number, score in scores.items() if number in base]
    active = [f["penalty_active"] for f in study.finals if f["penalty_active"] is not None]
    return Cell(
        graph=study.graph,
        method=study.method,
        condition=study.condition,
        search=study.search,
        metric=study.metric,
        finals=len(scores),
        mean=fmean(scores.values()),
        spread=stdev(scores.values()) if len(scores) > 1 else None,
        gain=fmean(gains) if gains else None,
        penalty_active=fmean(active) if active else None,
        trials=len(study.trials),
        repeats=study.repeats,
        seconds=study.seconds,
        full=bool(study.winner and study.winner.full),
        used_up=study.used_up,
    )
