"""Scores along a condition that is a number: deeper networks, fewer edges, higher frequencies."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clar_tune.analysis import Comparison, Correlation, Score, condition_of
from clar_tune.conditions import parts_of
from clar_tune.metric import metric_named
from clar_tune.report.blocks import Figure
from clar_tune.report.figures.names import file_stem, place_name, short
from clar_tune.report.figures.sweep_chart import sweep_spec
from clar_tune.report.figures.units import Unit, score_title, unit_of

NAMED = 6
"""Lines that a text describes."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The scores of a graph along one key, all else equal."""

    graph: str
    key: str
    rest: str
    """The condition of the rows without the key."""
    protocol: str
    metric: str
    points: tuple[tuple[float, Score], ...]
    """Scores by the value of the key."""
    levels: tuple[Score, ...]
    """Scores of methods that the key does not apply to."""

    @property
    def values(self) -> list[float]:
        """All values of the key, in order."""
        return sorted({value for value, _ in self.points})

    @property
    def place(self) -> str:
        """The graph, with what else is fixed."""
        return place_name(self.graph, self.rest)


def sweep_figures(comparison: Comparison) -> Iterator[Figure]:
    """A line for each column of the table, in one figure per graph and key of numbers."""
    for sweep in sweeps_of(comparison):
        unit = unit_of([sweep.metric])
        rows = tuple(_rows(sweep))
        title = score_title(unit, sweep.protocol)
        yield Figure(
            name=file_stem(sweep.graph, sweep.rest, f"{sweep.key}=sweep"),
            kind="sweep",
            title=f"{title.removesuffix(' (%)')} by {short(sweep.key, 40)} on {sweep.place}",
            text=_text(sweep, unit, _spearman(comparison, sweep)),
            rows=rows,
            spec=sweep_spec(rows, sweep.key, title, unit),
        )


def sweeps_of(comparison: Comparison) -> list[Sweep]:
    """Every key of the rows whose values are numbers, graph by graph."""
    found: dict[tuple[str, str, str], list[tuple[str, Score]]] = {}
    for score in comparison.scores:
        parts = parts_of(score.condition)
        for key, value in parts.items():
            rest = condition_of({other: parts[other] for other in parts if other != key})
            found.setdefault((score.graph, key, rest), []).append((value, score))
    groups = {group: own for group, own in found.items() if _is_sweep(value for value, _ in own)}
    keys: dict[str, set[str]] = {}
    for graph, key, _ in groups:
        keys.setdefault(graph, set()).add(key)
    # Several keys of numbers that go together are a grid: too many lines to be read.
    return [
        _sweep(comparison, group, own)
        for group, own in groups.items()
        if not keys[group[0]] & parts_of(group[2]).keys()
    ]


def _is_sweep(values: Iterable[str]) -> bool:
    numbers = {_number(value) for value in values}
    return None not in numbers and len(numbers) > 1


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _sweep(
    comparison: Comparison, group: tuple[str, str, str], own: Sequence[tuple[str, Score]]
) -> Sweep:
    graph, key, rest = group
    first = own[0][1]
    row = next(
        r for r in comparison.rows if (r.graph, r.condition) == (first.graph, first.condition)
    )
    return Sweep(
        graph=graph,
        key=key,
        rest=rest,
        protocol=row.protocol,
        metric=row.metric,
        points=tuple(sorted(((float(v), s) for v, s in own), key=lambda point: point[0])),
        levels=tuple(s for s in comparison.scores if (s.graph, s.condition) == (graph, rest)),
    )


def _rows(sweep: Sweep) -> Iterator[dict[str, Any]]:
    """Line by line; the value of a level is none."""
    order = list(dict.fromkeys(score.method for _, score in sweep.points))
    for value, score in sorted(sweep.points, key=lambda point: order.index(point[1].method)):
        yield _row(value, score)
    for score in sweep.levels:
        yield _row(None, score)


def _row(value: float | None, score: Score) -> dict[str, Any]:
    return {
        "graph": score.graph,
        "condition": score.condition,
        "method": score.method,
        "value": value,
        "mean": score.mean,
        "low": None if score.half_width is None else score.mean - score.half_width,
        "high": None if score.half_width is None else score.mean + score.half_width,
        "units": score.units,
    }


def _spearman(comparison: Comparison, sweep: Sweep) -> list[Correlation]:
    return [
        found
        for found in comparison.correlations
        if (found.kind, found.graph, found.key) == ("spearman", sweep.graph, sweep.key)
        and found.coefficient is not None
        and parts_of(sweep.rest).items() <= parts_of(found.condition).items()
    ]


def _text(sweep: Sweep, unit: Unit, correlations: Sequence[Correlation]) -> str:
    values = sweep.values
    lines: dict[str, list[tuple[float, Score]]] = {}
    for value, score in sweep.points:
        lines.setdefault(score.method, []).append((value, score))
    named = [_line(method, own, unit) for method, own in lines.items()]
    more = f"; {len(named) - NAMED} more" if len(named) > NAMED else ""
    parts = [
        f"{score_title(unit, sweep.protocol).removesuffix(' (%)')} on {sweep.place} for "
        f"{len(values)} values of {short(sweep.key, 40)} from {values[0]:g} to {values[-1]:g}: "
        "mean over finals, shaded its 95 % interval."
        + (" Lower is better." if unit.lower_is_better else ""),
        f"{'; '.join(named[:NAMED])}{more}.",
        *_best(sweep, len(lines)),
    ]
    if sweep.levels:
        levels = ", ".join(f"{short(s.method, 40)} {unit.score(s.mean)}" for s in sweep.levels)
        parts.append(f"Level lines, which have no {short(sweep.key, 40)}: {levels}.")
    if correlations:
        told = ", ".join(map(_coefficient, correlations))
        parts.append(f"Spearman's coefficient of {short(sweep.key, 40)} and score: {told}.")
    return " ".join(parts)


def _line(method: str, own: Sequence[tuple[float, Score]], unit: Unit) -> str:
    (first, start), (last, end) = own[0], own[-1]
    name = short(method, 40)
    if len(own) == 1:
        return f"{name} {unit.score(start.mean)} at {first:g}"
    return f"{name} {unit.score(start.mean)} at {first:g} and {unit.score(end.mean)} at {last:g}"


def _best(sweep: Sweep, lines: int) -> Iterator[str]:
    """How often each line has the best mean of all."""
    if lines < 2:
        return
    metric = metric_named(sweep.metric)
    wins: dict[str, int] = {}
    for value in sweep.values:
        own = [score for at, score in sweep.points if at == value]
        best = max(own, key=lambda score: metric.rank(score.mean)).method
        wins[best] = wins.get(best, 0) + 1
    order = sorted(wins, key=lambda method: -wins[method])
    told = ", ".join(f"{short(method, 40)} at {wins[method]}" for method in order)
    yield f"Best mean of {len(sweep.values)} values: {told}."


def _coefficient(found: Correlation) -> str:
    interval = "" if found.low is None else f" ({found.low:+.2f} to {found.high:+.2f})"
    paper = "" if found.paper is None else f", in the paper {found.paper:+.2f}"
    return f"{short(found.method, 40)} {found.coefficient:+.2f}{interval}{paper}"
