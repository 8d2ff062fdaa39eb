"""Methods over all rows: wins, ranks, budgets."""

from collections.abc import Sequence

import numpy as np

from clar_tune.analysis.records import Contrast, Score, Standing
from clar_tune.analysis.scores import total
from clar_tune.analysis.statistics import average_ranks

TIE = 0.00005
"""Gains smaller than this print as 0.00 points, or as a ratio of 1.0000 for errors."""


def standings_of(
    methods: Sequence[str], scores: Sequence[Score], contrasts: Sequence[Contrast], sign: float
) -> list[Standing]:
    """One standing per method, in their order."""
    ranks = _ranks(methods, scores, sign)
    return [
        _standing(
            method,
            [score for score in scores if score.method == method],
            [c for c in contrasts if c.method == method and not c.rival],
            ranks.get(method),
        )
        for method in methods
    ]


def _standing(
    method: str, scores: Sequence[Score], contrasts: Sequence[Contrast], rank: float | None
) -> Standing:
    signs = [_sign(contrast) for contrast in contrasts]
    return Standing(
        method=method,
        rows=len(scores),
        bests=sum(score.best for score in scores),
        wins=signs.count(1),
        ties=signs.count(0),
        losses=signs.count(-1),
        better=sum(contrast.verdict == "better" for contrast in contrasts),
        worse=sum(contrast.verdict == "worse" for contrast in contrasts),
        rank=rank,
        budget=total(score.budget for score in scores),
    )


def _sign(contrast: Contrast) -> int:
    """1 for a gain, -1 for a loss, 0 for what prints as neither."""
    gain = contrast.gain if contrast.ratio is None else 1 - contrast.ratio
    return 0 if abs(gain) < TIE else (1 if gain > 0 else -1)


def _ranks(methods: Sequence[str], scores: Sequence[Score], sign: float) -> dict[str, float]:
    """Average ranks over the rows that every method has."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        rows.setdefault((score.graph, score.condition), {})[score.method] = sign * score.mean
    whole = [row for row in rows.values() if len(row) == len(methods)]
    if not whole or len(methods) < 2:
        return {}
    table = np.array([[row[method] for method in methods] for row in whole])
    return dict(zip(methods, average_ranks(table).tolist(), strict=True))
