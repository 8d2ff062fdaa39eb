"""The trials of a study as wide rows, which several figures share."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from clar_tune.analysis import StudyView, searched
from clar_tune.report.blocks import Rows
from clar_tune.report.figures.names import short
from clar_tune.report.figures.units import Unit, unit_of
from clar_tune.rows import TrialRow
from clar_tune.space import Choice, Range
from clar_tune.winner import may_win, preference

OWN = ("trial", "state", "repeats", "val_score", "best")
"""Columns besides those of rungs and parameters."""
CALCULATED = (
    *("score", "score_text", "shown", "top", "rung", "mean", "column", "axis", "place"),
    *("lowest", "highest", "trials"),
)
"""Fields that charts add to rows."""
PLACES = 14
"""An axis has at most so many places for choices."""


@dataclass(frozen=True, slots=True)
class Trials:
    """A row per trial: its state and score, its mean at each rung, every parameter that varies."""

    study: StudyView
    rows: Rows
    rungs: tuple[int, ...]
    """Numbers of repeats at which trials are judged; their columns are ``mean_1`` …"""
    parameters: Mapping[str, str]
    """The column of each parameter that varies."""
    domains: Mapping[str, Range | Choice]
    """What each searched parameter was chosen from."""

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
    best = _best_so_far(trials, study.metric)
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
    return Trials(study, rows, rungs, columns, searched(study).domains)


def rungs_of(study: StudyView) -> tuple[int, ...]:
    """Asha of the manifest, as far as any trial came; none without pruning."""
    most = max((len(curve) for curve in study.curves.values()), default=0)
    return tuple(rung for rung in study.planned.rungs if rung <= most)


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


def _best_so_far(trials: Sequence[TrialRow], metric: str) -> list[float | None]:
    """The score of the winner among each trial and those before it."""
    best: TrialRow | None = None
    found: list[float | None] = []
    for trial in trials:
        if may_win(trial) and trial.val_score is not None:
            rivals = [trial] if best is None else [best, trial]
            best = max(rivals, key=lambda rival: preference(rival, metric))
        found.append(None if best is None else best.val_score)
    return found
