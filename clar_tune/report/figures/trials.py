"""The trials of a study as wide rows, which several figures share."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from clar_tune.analysis import StudyView
from clar_tune.report.figures.records import Rows, short
from clar_tune.report.figures.units import Unit, unit_of
from clar_tune.rows import TrialRow

OWN = ("trial", "state", "repeats", "val_score", "best")
"""Columns besides those of rungs and parameters."""
CALCULATED = (
    *("score", "score_text", "shown", "top", "rung", "mean", "column", "axis", "place"),
    *("lowest", "highest", "trials"),
)
"""Fields that charts add to rows."""
PLACES = 14
"""An axis has at most so many places for choices."""
REDUCTIONS = (3, 2, 4, 5)


@dataclass(frozen=True, slots=True)
class Trials:
    """A row per trial: its state and score, its mean at each rung, every parameter that varies."""

    study: StudyView
    rows: Rows
    rungs: tuple[int, ...]
    """Numbers of repeats at which trials are judged; their columns are ``mean_1`` …"""
    parameters: Mapping[str, str]
    """The column of each parameter that varies."""

    @property
    def unit(self) -> Unit:
        """How its scores are written."""
        return unit_of([self.study.metric])

    @property
    def states(self) -> tuple[str, ...]:
        """States that occur, sorted."""
        return tuple(sorted({row["state"] for row in self.rows}))

    @property
    def scored(self) -> list[Mapping[str, Any]]:
        """Rows with a score."""
        return [row for row in self.rows if row["val_score"] is not None]


def trials_of(study: StudyView) -> Trials:
    """The trials of a study in the order of their numbers."""
    trials = sorted(study.trials, key=lambda trial: trial.trial)
    params = [trial.params for trial in trials]
    rungs = rungs_of(study)
    columns = {name: _column(name) for name in _varying(params)}
    best = _best_so_far(trials, unit_of([study.metric]))
    rows = tuple(
        {
            "trial": trial.trial,
            "state": trial.state,
            "repeats": trial.repeats,
            "val_score": trial.val_score,
            "best": best[place],
            **_means(study.curves.get(trial.trial, ()), rungs),
            **{column: _cell(params[place], name) for name, column in columns.items()},
        }
        for place, trial in enumerate(trials)
    )
    return Trials(study, rows, rungs, columns)


def rungs_of(study: StudyView) -> tuple[int, ...]:
    """1, 3, 9 … up to the most repeats, or other powers if trials were stopped at those."""
    lengths = {trial.trial: len(study.curves.get(trial.trial, ())) for trial in study.trials}
    most = max(lengths.values(), default=0)
    stopped = {lengths[trial.trial] for trial in study.trials if trial.state == "pruned"} - {0}
    for reduction in REDUCTIONS:
        powers = {reduction**power for power in range(16) if reduction**power <= most}
        if stopped <= powers:
            return tuple(sorted(powers | ({most} if most else set())))
    return tuple(sorted(stopped | {most}))


def from_range(numbers: Collection[float]) -> bool:
    """Whether numbers were drawn from a range: there are many, or one has more than 3 digits.

    Those of a list of choices are few and round.
    """
    return len(numbers) > PLACES or any(value != float(f"{value:.3g}") for value in numbers)


def _means(curve: Sequence[float], rungs: Iterable[int]) -> dict[str, float | None]:
    return {f"mean_{r}": fmean(curve[:r]) if r <= len(curve) else None for r in rungs}


def _varying(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names with more than one value; not to have one is a value too."""
    names = dict.fromkeys(name for own in params for name in own)
    return [name for name in names if len({_cell(own, name) for own in params}) > 1]


def _column(name: str) -> str:
    """The column of a parameter: its name, unless something else is called so."""
    taken = name in OWN or name in CALCULATED or re.fullmatch(r"(mean|axis)_\d+", name)
    return f"param_{name}" if taken or name.startswith("param_") else name


def _cell(params: Mapping[str, Any], name: str) -> float | str | None:
    """A parameter's value as a number or a text; none if a trial does not have it."""
    if name not in params:
        return None
    value = params[name]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return short(value if isinstance(value, str) else json.dumps(value))


def _best_so_far(trials: Sequence[TrialRow], unit: Unit) -> list[float | None]:
    """The score of the winner among each trial and those before it."""
    sign = -1.0 if unit.lower_is_better else 1.0
    best: tuple[int, float] | None = None
    found: list[float | None] = []
    for trial in trials:
        if trial.state in ("complete", "pruned") and trial.val_score is not None:
            own = trial.repeats, sign * trial.val_score
            best = own if best is None else max(best, own)
        found.append(None if best is None else sign * best[1])
    return found
