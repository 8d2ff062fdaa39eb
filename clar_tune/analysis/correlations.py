"""How scores go with a key of the conditions, or agree under two of its values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clar_tune.analysis.layout import Place, condition_of
from clar_tune.analysis.records import Correlation, Point
from clar_tune.analysis.samples import Sample
from clar_tune.analysis.statistics import Coefficient, pearson, spearman
from clar_tune.analysis.units import Unit
from clar_tune.conditions import parts_of
from clar_tune.paper import coefficient
from clar_tune.space import written

Group = tuple[str, str, str]
"""Graph, method, and the condition without the key."""
ByValue = Mapping[str, Sample]
"""Samples that differ in the key alone, by its value."""


def correlations_of(
    samples: Mapping[Place, Sample], asked: Mapping[str, Any] | None, table: str | None
) -> list[Correlation]:
    """The correlations that a manifest asks for; ``table`` numbers the paper's table."""
    if asked is None:
        return []
    compared = [written(value) for value in asked.get("of", [])]
    ((kind, key),) = ((kind, key) for kind, key in asked.items() if kind != "of")
    groups = _groups(samples.values(), key)
    if kind == "spearman":
        return [_spearman(group, key, own, table) for group, own in groups.items() if len(own) > 1]
    return [
        _pearson(cells, key, values, table)
        for grid in _grids(groups)
        for values in combinations(compared, 2)
        if (cells := _cells(grid, values))
    ]


def _groups(samples: Iterable[Sample], key: str) -> dict[Group, dict[str, Sample]]:
    groups: dict[Group, dict[str, Sample]] = {}
    for sample in samples:
        study = sample.study  # its condition is whole, that of the sample's place is not
        parts = parts_of(study.condition)
        if key in parts:
            value = parts.pop(key)
            group = study.graph, study.method, condition_of(parts)
            groups.setdefault(group, {})[value] = sample
    return groups


def _grids(groups: Mapping[Group, ByValue]) -> Iterator[dict[str, ByValue]]:
    """Groups of one graph and method, by their condition."""
    for place in dict.fromkeys((graph, method) for graph, method, _ in groups):
        yield {group[2]: own for group, own in groups.items() if group[:2] == place}


def _cells(grid: Mapping[str, ByValue], values: tuple[str, str]) -> dict[str, list[Sample]]:
    """The samples under two values, by condition, where they have units in common."""
    pairs = {
        condition: [own[value] for value in values]
        for condition, own in grid.items()
        if own.keys() >= set(values)
    }
    return {condition: pair for condition, pair in pairs.items() if _shared(pair)}


def _spearman(group: Group, key: str, own: ByValue, table: str | None) -> Correlation:
    """Of the key's values and all scores under them."""
    values = sorted(own, key=float)
    scores = _scores([own[value] for value in values])  # [V, J]
    numbers = [float(value) for value in values]
    found = spearman(numbers, scores.T) if scores.size else None
    means = zip(values, _means(scores), strict=True) if scores.size else ()
    graph, method, condition = group
    return Correlation(
        kind="spearman",
        graph=graph,
        method=method,
        condition=condition,
        metric=own[values[0]].study.metric,
        key=key,
        values=tuple(values),
        paper=None if condition else _printed(own[values[0]], f"spearman {key}", table),
        units=scores.shape[1],
        points=tuple(
            Point(condition=f"{key}={value}", x=float(value), y=float(mean))
            for value, mean in means
        ),
        **_interval(found),
    )


def _pearson(
    cells: Mapping[str, Sequence[Sample]], key: str, values: tuple[str, str], table: str | None
) -> Correlation:
    """Of the mean scores under two values; each cell's are those of the units it has for both."""
    sample = next(iter(cells.values()))[0]
    scores = [_scores(pair) for pair in cells.values()]  # [2, J] each
    x, y = np.array([_means(own) for own in scores]).T
    same = np.array([_trainings(first) == _trainings(second) for first, second in cells.values()])
    without = pearson(x[~same], y[~same]) if same.any() else None
    gaps = _gaps(list(cells.values()))
    gap = sample.estimate(gaps) if gaps else None
    return Correlation(
        kind="pearson",
        graph=sample.study.graph,
        method=sample.study.method,
        condition="",
        metric=sample.study.metric,
        key=key,
        values=values,
        paper=_printed(sample, f"pearson {key} {' '.join(values)}", table),
        units=min(own.shape[1] for own in scores),
        points=tuple(
            Point(condition=condition, x=float(first), y=float(second))
            for condition, first, second in zip(cells, x, y, strict=True)
        ),
        identical=int(same.sum()),
        apart=without.value if without else None,
        gap=gap.mean if gap else None,
        gap_half=gap.half_width if gap else None,
        **_interval(pearson(x, y)),
    )


def _scores(samples: Sequence[Sample]) -> NDArray[np.float64]:
    """One row per sample: its scores on the units that all of them have."""
    shared = _shared(samples)
    return np.array([[sample.values[unit] for unit in shared] for sample in samples])


def _shared(samples: Sequence[Sample]) -> list[Unit]:
    """The units that all samples have."""
    first, *others = (sample.values for sample in samples)
    return [unit for unit in first if all(unit in other for other in others)]


def _gaps(cells: Sequence[Sequence[Sample]]) -> list[list[float]]:
    """The second less the first, averaged over cells that have both, by split of each search."""
    found: dict[int, dict[Unit, list[float]]] = {}
    for first, second in cells:
        for search, own in first.finals.items():
            other, gaps = second.finals.get(search, {}), found.setdefault(search, {})
            for unit in filter(other.__contains__, own):
                gaps.setdefault(unit, []).append(other[unit] - own[unit])
    return [list(map(fmean, gaps.values())) for gaps in found.values() if gaps]


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each row."""
    found: NDArray[np.float64] = np.mean(scores, axis=-1)
    return found


def _trainings(sample: Sample) -> list[tuple[float, ...]]:
    """What tells trainings apart: accuracies can be equal by chance, losses hardly."""
    return [
        (final.split_seed, final.init_seed, final.val_loss, final.test_score)
        for study in sample.studies
        for final in study.finals
    ]


def _interval(found: Coefficient | None) -> dict[str, Any]:
    if found is None:
        return {"coefficient": None, "low": None, "high": None, "pairs": 0}
    return {
        "coefficient": found.value,
        "low": found.low,
        "high": found.high,
        "pairs": found.pairs,
    }


def _printed(sample: Sample, asked: str, table: str | None) -> float | None:
    study = sample.study
    return coefficient(table, study.graph, study.method, asked, study.protocol)
