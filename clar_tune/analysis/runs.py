"""What the store knows about a run, study by study."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clar_tune.rows import STUDY, USED_UP, RunRow, TrialRow
from clar_tune.store import Store
from clar_tune.winner import Winner, winner

Study = tuple[str, str, str, int]
"""Graph, method, condition, number of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyView:
    """One study of a stored run."""

    graph: str
    method: str
    condition: str
    search: int
    protocol: str
    metric: str
    asked: int
    trials: tuple[TrialRow, ...]
    finals: tuple[Mapping[str, Any], ...]
    """Finals of the winner."""
    finals_asked: int
    winner: Winner | None
    curves: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    """Validation scores of each trial's repeats in order, where they were asked for."""

    def count(self, state: str) -> int:
        """Trials in a state."""
        return sum(trial.state == state for trial in self.trials)

    @property
    def best(self) -> TrialRow | None:
        """The row of the winner."""
        if self.winner is None:
            return None
        return next(trial for trial in self.trials if trial.trial == self.winner.trial)

    @property
    def used_up(self) -> bool:
        """Whether it ended early because no configuration was left."""
        return any(USED_UP in json.loads(trial.notes) for trial in self.trials)

    @property
    def repeats(self) -> int:
        """Trainings of the search."""
        return sum(trial.repeats for trial in self.trials)

    @property
    def seconds(self) -> float:
        """Time of the search and of the winner's finals."""
        finals: float = sum(final["seconds"] for final in self.finals)
        return finals + sum(trial.seconds for trial in self.trials)


@dataclass(frozen=True, slots=True)
class RunView:
    """A stored run: its manifest and the studies that have begun."""

    name: str
    row: RunRow
    studies: tuple[StudyView, ...]

    @property
    def budget(self) -> dict[str, Any]:
        """What every study was to get."""
        return dict(json.loads(self.row.budget))

    @property
    def options(self) -> dict[str, Any]:
        """What its command changed of its space."""
        return dict(json.loads(self.row.options))


FINAL_COLUMNS = (
    *(*STUDY, "trial", "repeat", "split_seed", "init_seed", "val_score", "val_loss", "test_score"),
    *("train_nodes", "val_nodes", "test_nodes"),
    *("penalty_active", "terms", "facts", "params", "seconds"),
)
"""Columns of finals that a view needs."""


def read_run(store: Store, name: str, *, curves: bool = False) -> RunView:
    """A run as stored; ``curves`` reads the repeats of its trials too."""
    run = store.find(name)
    columns = (*STUDY, "trial", "repeat", "val_score")
    repeats = store.repeats(run.name, columns).to_pylist() if curves else []
    finals = store.finals(run.name, FINAL_COLUMNS).to_pylist()
    studies = studies_of(run.row, store.trials(run.name), finals, repeats)
    return RunView(run.name, run.row, tuple(studies))


def studies_of(
    row: RunRow,
    trials: Iterable[TrialRow],
    finals: Iterable[Mapping[str, Any]],
    repeats: Iterable[Mapping[str, Any]] = (),
) -> list[StudyView]:
    """The studies of a run that have begun, in the order in which they did."""
    budget = json.loads(row.budget)
    by_study: dict[Study, list[TrialRow]] = {}
    for trial in sorted(trials, key=lambda trial: (trial.started, trial.trial)):
        by_study.setdefault(trial.study, []).append(trial)
    tested, trained = _by_study(finals), _by_study(repeats)
    return [
        _view(study, rows, tested.get(study, []), trained.get(study, []), budget)
        for study, rows in by_study.items()
    ]


def _by_study(rows: Iterable[Mapping[str, Any]]) -> dict[Study, list[Mapping[str, Any]]]:
    found: dict[Study, list[Mapping[str, Any]]] = {}
    for row in rows:
        study = row["graph"], row["method"], row["condition"], row["search"]
        found.setdefault(study, []).append(row)
    return found


def _curves(repeats: Iterable[Mapping[str, Any]]) -> dict[int, tuple[float, ...]]:
    scores: dict[int, list[float]] = {}
    for repeat in sorted(repeats, key=lambda repeat: (repeat["trial"], repeat["repeat"])):
        scores.setdefault(repeat["trial"], []).append(repeat["val_score"])
    return {trial: tuple(values) for trial, values in scores.items()}


def _view(
    study: Study,
    trials: list[TrialRow],
    finals: list[Mapping[str, Any]],
    repeats: list[Mapping[str, Any]],
    budget: dict[str, Any],
) -> StudyView:
    # A study with nothing to search has one trial, complete without repeats.
    plain = len(trials) == 1 and trials[0].state == "complete" and not trials[0].repeats
    best = winner(trials, trials[0].metric, 0 if plain else budget["repeats"])
    own = [final for final in finals if best and final["trial"] == best.trial]
    graph, method, condition, search = study
    return StudyView(
        graph=graph,
        method=method,
        condition=condition,
        search=search,
        protocol=trials[0].protocol,
        metric=trials[0].metric,
        asked=1 if plain else budget["trials"],
        trials=tuple(trials),
        finals=tuple(sorted(own, key=lambda final: int(final["repeat"]))),
        finals_asked=budget["finals"],
        winner=best,
        curves=_curves(repeats),
    )
