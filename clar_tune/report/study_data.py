"""One study for the explorer: what won, its figures, and all of its trials."""

import json
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from clar_tune.analysis import RunView, StudyView, counted, duration, importances
from clar_tune.report import figures, numbers
from clar_tune.report.builders.studies import key_of, title_of
from clar_tune.report.figure_data import compact, figures_data
from clar_tune.report.texts import name, setting
from clar_tune.rows import TrialRow

LONGEST_ERROR = 200
"""Characters of an error in the table of trials; the failures tell all of it."""


def study_data(run: RunView, study: StudyView) -> dict[str, Any]:
    """All that the explorer shows of a study."""
    drawn = figures.of_study(study, importances(study))
    return {
        "key": key_of(run, study),
        "title": title_of(study),
        "run": name(run.name),
        "facts": _facts(study),
        "winner": _winner(study),
        "trials": trials_data(study),
        **figures_data(drawn),
    }


def trials_data(study: StudyView) -> dict[str, Any]:
    """All trials as a table; ``kinds`` says how a column is written.

    Parameters that are the same in all trials stand with the winner already.
    """
    params = {trial.trial: trial.params for trial in study.trials}
    values: dict[str, set[str]] = {}
    for trial in study.trials:
        for key, value in params[trial.trial].items():
            values.setdefault(key, set()).add(json.dumps(value))
    every = {key for key in values if all(key in own for own in params.values())}
    names = sorted(key for key in values if len(values[key]) > 1 or key not in every)
    rows = [_trial(study, trial, params[trial.trial], names) for trial in study.trials]
    if not study.count("failed"):
        rows = [{key: row[key] for key in row if key != "failure"} for row in rows]
    found = compact(rows)
    kind = "percent" if numbers.in_percent(study.metric) else "number"
    kinds = {"validation": kind, "seconds": "number"} | dict.fromkeys(names, "setting")
    caption = "Scores are of validation, over the repeats that a trial had."
    return {**found, "kinds": kinds, "caption": caption}


def _trial(
    study: StudyView, trial: TrialRow, params: Mapping[str, Any], names: list[str]
) -> dict[str, Any]:
    won = study.winner is not None and study.winner.trial == trial.trial
    cause = f"{trial.failure}: {trial.error}" if trial.failure else ""
    return {
        "trial": trial.trial,
        "state": f"{trial.state}, winner" if won else trial.state,
        "repeats": trial.repeats,
        "validation": trial.val_score,
        "seconds": trial.seconds,
        **{key: _setting(params[key]) if key in params else None for key in names},
        "failure": " ".join(cause[:LONGEST_ERROR].split()),
    }


def _setting(value: Any) -> Any:
    """Numbers stay numbers; null is a setting of its own, not a missing one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return setting(value)


def _facts(study: StudyView) -> list[tuple[str, str]]:
    states = [f"{study.count(state)} {state}" for state in ("complete", "pruned", "failed")]
    running = study.count("running")
    states += [f"{running} running"] if running else []
    used_up = "; the space is used up" if study.used_up else ""
    facts = [
        ("trials", f"{len(study.trials)} of {study.asked}: {', '.join(states)}{used_up}"),
        ("trainings", counted(study.repeats, "repeat")),
        ("finals", f"{len(study.finals)} of {study.finals_asked}"),
    ]
    if study.finals:
        mean = fmean(final.test_score for final in study.finals)
        percent = " %" if numbers.in_percent(study.metric) else ""
        facts.append((f"mean test {study.metric}", numbers.score(mean, study.metric) + percent))
    return [*facts, ("protocol", study.protocol), ("time", duration(study.seconds))]


def _winner(study: StudyView) -> dict[str, Any] | None:
    best = study.best
    if best is None:
        return None
    params = best.params
    score = numbers.score(best.val_score, study.metric)
    percent = " %" if numbers.in_percent(study.metric) else ""
    text = f"Trial {best.trial}"
    if score:
        repeats = counted(best.repeats, "repeat")
        text += f": mean validation {study.metric} {score}{percent} over {repeats}"
    return {
        "text": text,
        "params": [(key, setting(params[key])) for key in sorted(params)],
    }
