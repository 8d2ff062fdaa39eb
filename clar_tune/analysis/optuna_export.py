"""The studies of runs in a file that optuna-dashboard and Optuna itself open."""

import os
import shlex
import sqlite3
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend
from optuna.study import StudyDirection

from clar_tune.analysis.optuna_trials import frozen_trials
from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.analysis.search_space import Searched, searched
from clar_tune.errors import ParameterError, StoreError
from clar_tune.records import LOWER_IS_BETTER
from clar_tune.space import Space

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


def export(
    runs: Sequence[tuple[RunView, Space | None]], path: Path, told: Told = lambda _: None
) -> None:
    """Write one Optuna study per study that has begun; test scores are left out, on purpose.

    The file appears when all is written. Without a space, ranges are guessed from values.
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


def _fill(storage: BaseStorage, runs: Sequence[tuple[RunView, Space | None]], told: Told) -> None:
    for run, space in runs:
        for study in run.studies:
            _add(storage, run, study, searched(study, space))
            told(len(study.trials))


def _add(storage: BaseStorage, run: RunView, study: StudyView, found: Searched) -> None:
    lower = study.metric in LOWER_IS_BETTER
    direction = StudyDirection.MINIMIZE if lower else StudyDirection.MAXIMIZE
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
