"""The studies of runs in a file that optuna-dashboard and Optuna itself open."""

import math
import os
import shlex
import sqlite3
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.analysis.search_space import (
    Searched,
    readable_distribution,
    readable_value,
    searched,
)
from clar_tune.errors import ParameterError, StoreError
from clar_tune.metric import metric_named
from clar_tune.rows import TrialRow

optuna.logging.set_verbosity(optuna.logging.ERROR)  # else it tells of every study it creates

SQLITE = (".db", ".sqlite", ".sqlite3")
JOURNAL = (".log", ".journal")

Told = Callable[[int], object]
"""Hears how many trials were written since it heard last."""


def check_target(path: Path) -> None:
    """Refuse a file that exists, or whose suffix says nothing."""
    if path.suffix not in (*SQLITE, *JOURNAL):
        raise ParameterError(
            f"--optuna {path}: its suffix must say what to write: {', '.join(SQLITE)} for "
            f"SQLite, {' or '.join(JOURNAL)} for a journal."
        )
    if path.exists():
        raise ParameterError(f"--optuna {path} exists. Name another file, or remove it first.")
    if not path.parent.is_dir():
        raise ParameterError(f"--optuna {path}: there is no folder {path.parent}.")


def export(runs: Sequence[RunView], path: Path, told: Told = lambda _: None) -> None:
    """Write one Optuna study per study that has begun; test scores are left out, on purpose.

    The file appears when all is written.
    """
    check_target(path)
    write = _write_sqlite if path.suffix in SQLITE else _write_journal
    try:
        with TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
            unnamed = Path(folder) / path.name
            write(unnamed, lambda storage: _fill(storage, runs, told))
            os.rename(unnamed, path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path} cannot be written ({error}).") from error


def opened_by(path: Path) -> str:
    """The command that opens an exported file."""
    target = f"sqlite:///{path}" if path.suffix in SQLITE else str(path)
    return f"optuna-dashboard {shlex.quote(target)}"


def _fill(storage: BaseStorage, runs: Sequence[RunView], told: Told) -> None:
    for run in runs:
        for study in run.studies:
            _add(storage, run, study, searched(study))
            told(len(study.trials))


def _add(storage: BaseStorage, run: RunView, study: StudyView, found: Searched) -> None:
    high = metric_named(study.metric).higher_is_better
    direction = StudyDirection.MAXIMIZE if high else StudyDirection.MINIMIZE
    added = optuna.create_study(storage=storage, study_name=_name(run, study), direction=direction)
    with warnings.catch_warnings():  # that names of metrics may change is known
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        added.set_metric_names([f"validation {study.metric}"])
    for key, value in _facts(run, study, found).items():
        added.set_user_attr(key, value)
    added.add_trials(frozen_trials(study, found))


def _name(run: RunView, study: StudyView) -> str:
    search = f"search {study.search}" if study.search else ""
    parts = (run.name, study.graph, study.method, search, study.condition)
    return " / ".join(part for part in parts if part)


def _facts(run: RunView, study: StudyView, found: Searched) -> dict[str, Any]:
    return {
        "run": run.name,
        "space": run.row.space,
        "settings": run.row.settings,
        "graph": study.graph,
        "method": study.method,
        "condition": study.condition,
        "search": study.search,
        "protocol": study.protocol,
        "trials asked for": study.asked,
        "winner": study.winner.trial if study.winner else None,
        "fixed": dict(found.fixed),
    }


def _write_sqlite(path: Path, fill: Callable[[BaseStorage], None]) -> None:
    """Built in memory: on disk every trial would wait for the disk."""
    storage = RDBStorage("sqlite:///:memory:")
    try:
        fill(storage)
        storage.remove_session()
        with closing(storage.engine.raw_connection()) as connection:
            connection.cursor().execute("VACUUM INTO ?", (str(path),))
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _write_journal(path: Path, fill: Callable[[BaseStorage], None]) -> None:
    journal = _Memory()
    fill(JournalStorage(journal))
    JournalFileBackend(str(path)).append_logs(journal.logs)


class _Memory(BaseJournalBackend):
    """A journal that is written in one piece when it is whole."""

    def __init__(self) -> None:
        self.logs: list[dict[str, Any]] = []

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        return self.logs[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self.logs += logs


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
        scores = [final.val_score for final in study.finals]
        return (state, fmean(scores)) if scores else (TrialState.RUNNING, None)
    if state in (TrialState.COMPLETE, TrialState.PRUNED):
        known = score is not None and math.isfinite(score)
        return (state, score) if known else (TrialState.FAIL, None)
    return state, None


def _notes(row: TrialRow) -> dict[str, Any]:
    """What else is known about a trial; what is usual is left out."""
    notes = row.remarks
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
