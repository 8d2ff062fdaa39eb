"""The axes of parallel coordinates: where a value stands between 0 and 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clar_tune.report.figures.names import short
from clar_tune.report.figures.trials import PLACES, Trials
from clar_tune.space import Choice, Range

LOWEST = -0.1
"""Where a trial without a value stands."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: values at equal distances, or else a range of numbers."""

    name: str
    column: str
    values: tuple[float | str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    missing: bool = False
    """Whether some trial has no value."""

    @property
    def scale(self) -> dict[str, Any]:
        """What the expression of ``height_of`` reads."""
        if self.values:
            return {"name": self.name, "field": self.column, "values": self.values}
        ends = {"low": self.low, "high": self.high, "log": self.log}
        return {"name": self.name, "field": self.column, **ends}

    @property
    def ticks(self) -> list[tuple[float, float | str]]:
        """Places with the values that stand there."""
        if not self.values:
            low, high = self.low, self.high
            return [
                (0, low),
                (0.5, math.sqrt(low * high) if self.log else (low + high) / 2),
                (1, high),
            ]
        every = math.ceil(len(self.values) / PLACES)
        last = max(1, len(self.values) - 1)
        return [(place / last, v) for place, v in enumerate(self.values) if place % every == 0]


def axes_of(trials: Trials) -> list[Axis]:
    """An axis per parameter that varies, and one for the score."""
    axes = [
        _parameter_axis(
            name, column, [row[column] for row in trials.rows], trials.domains.get(name)
        )
        for name, column in trials.parameters.items()
    ]
    scores = [row["val_score"] for row in trials.scored]
    lost = len(scores) < len(trials.rows)
    low, high = min(scores), max(scores)
    return [*axes, Axis("validation", "val_score", low=low, high=high, missing=lost)]


def height_of(place: int) -> str:
    """The Vega expression for the height of a trial on an axis; the signal ``axes`` holds it."""
    axis, value = f"axes[{place}]", f"datum[axes[{place}].field]"
    in_places = f"indexof({axis}.values, {value}) / max(1, length({axis}.values) - 1)"
    linear = f"({value} - {axis}.low) / ({axis}.high - {axis}.low || 1)"
    log = f"log({value} / {axis}.low) / log({axis}.high / {axis}.low)"
    in_range = f"({axis}.log ? {log} : {linear})"
    return f"!isValid({value}) ? {LOWEST} : {axis}.values ? {in_places} : {in_range}"


def _parameter_axis(
    name: str, column: str, cells: Sequence[float | str | None], domain: Range | Choice | None
) -> Axis:
    """As wide as the values are apart; that of a range has its scale."""
    found = {cell for cell in cells if cell is not None}
    numbers = sorted(cell for cell in found if not isinstance(cell, str))
    texts = sorted(cell for cell in found if isinstance(cell, str))
    title, missing = short(name, 40), None in cells
    if texts or not isinstance(domain, Range):
        return Axis(title, column, values=(*numbers, *texts), missing=missing)
    return Axis(title, column, low=numbers[0], high=numbers[-1], log=domain.log, missing=missing)
