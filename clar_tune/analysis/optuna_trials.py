"""Stored trials as trials of Optuna."""

import json
import math
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate
from statistics import fmean
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from clar_tune.analysis.distributions import readable_distribution, readable_value
from clar_tune.analysis.runs import StudyView
from clar_tune.analysis.search_space import Searched
from clar_tune.rows import TrialRow

STATES = {
    "running": TrialState.RUNNING,
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "failed": TrialState.FAIL,
}


def frozen_trials(study: StudyView, found: Searched) -> list[FrozenTrial]:
    """The trials of a study in the order of their numbers, without any test score."""
    distributions = {name: readable_distribution(d) for name, d in found.domains.items()}
    rows = {row.trial: row for row in study.trials}
    trials = []
    for number in range(max(rows) + 1):
        row = rows.get(number)
        if row is None:
            # Optuna counts trials as they come: a number without a row must not shift the rest.
            trials.append(_frozen(number, TrialState.WAITING))
            continue
        state, value = _outcome(study, row)
        chosen = found.chosen[number]
        ended = row.started + timedelta(seconds=row.seconds)
        trials.append(
            _frozen(
                number,
                state,
                value=value,
                datetime_start=row.started,
                datetime_complete=ended if state.is_finished() else None,
                params={n: readable_value(found.domains[n], v) for n, v in chosen.items()},
                distributions={name: distributions[name] for name in chosen},
                user_attrs=_notes(row),
                intermediate_values=_running_means(study.curves.get(number, ())),
            )
        )
    return trials


def _outcome(study: StudyView, row: TrialRow) -> tuple[TrialState, float | None]:
    """State and value; Optuna has no value for what failed or runs, and no trial without one.

    A configuration that was not searched has no repeats: the mean validation score of its
    finals stands for them, and it runs until there is one.
    """
    state, score = STATES[row.state], row.val_score
    if state is TrialState.COMPLETE and score is None:
        scores = [final["val_score"] for final in study.finals]
        return (state, fmean(scores)) if scores else (TrialState.RUNNING, None)
    if state in (TrialState.COMPLETE, TrialState.PRUNED):
        known = score is not None and math.isfinite(score)
        return (state, score) if known else (TrialState.FAIL, None)
    return state, None


def _notes(row: TrialRow) -> dict[str, Any]:
    """What else is known about a trial; what is usual is left out."""
    notes = json.loads(row.notes)
    return {
        "repeats": row.repeats,
        "seconds": round(row.seconds, 3),
        **({"failure": row.failure, "error": row.error or ""} if row.failure else {}),
        **({"retries": row.retries} if row.retries else {}),
        **({"notes": "\n".join(notes)} if notes else {}),
    }


def _running_means(scores: Sequence[float]) -> dict[int, float]:
    """The mean score after each repeat, as the search judged it."""
    sums = accumulate(scores)
    return {count: total / count for count, total in enumerate(sums, 1) if math.isfinite(total)}


def _frozen(number: int, state: TrialState, **values: Any) -> FrozenTrial:
    usual: dict[str, Any] = {
        "value": None,
        "datetime_start": None,
        "datetime_complete": None,
        "params": {},
        "distributions": {},
        "user_attrs": {},
        "system_attrs": {},
        "intermediate_values": {},
    }
    return FrozenTrial(number=number, trial_id=number, state=state, **{**usual, **values})
