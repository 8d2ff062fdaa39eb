"""What the store knows about a run, study by study."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from clar_tune.rows import FinalRow, RepeatScore, RunRow, StudyKey, TrialRow
from clar_tune.store import Store
from clar_tune.winner import Winner, winner


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
    finals: tuple[FinalRow, ...]
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
        return any(trial.used_up for trial in self.trials)

    @property
    def repeats(self) -> int:
        """Trainings of the search."""
        return sum(trial.repeats for trial in self.trials)

    @property
    def seconds(self) -> float:
        """Time of the search and of the winner's finals."""
        finals = sum(final.seconds for final in self.finals)
        return finals + sum(trial.seconds for trial in self.trials)


@dataclass(frozen=True, slots=True)
class RunView:
    """A stored run: its manifest and the studies that have begun."""

    name: str
    row: RunRow
    studies: tuple[StudyView, ...]

    @property
    def budget(self) -> Mapping[str, Any]:
        """What every study was to get."""
        return self.row.budget

    @property
    def options(self) -> Mapping[str, Any]:
        """What its command changed of its space."""
        return self.row.options


def read_run(store: Store, name: str, *, curves: bool = False) -> RunView:
    """A run as stored; ``curves`` reads the repeats of its trials too."""
    run = store.find(name)
    repeats = store.repeat_scores(run.name) if curves else ()
    studies = studies_of(run.row, store.trials(run.name), store.finals(run.name), repeats)
    return RunView(run.name, run.row, tuple(studies))


def studies_of(
    row: RunRow,
    trials: Iterable[TrialRow],
    finals: Iterable[FinalRow],
    repeats: Iterable[RepeatScore] = (),
) -> list[StudyView]:
    """The studies of a run that have begun, in the order in which they did."""
    begun = by_study(sorted(trials, key=lambda trial: (trial.started, trial.trial)))
    tested, trained = by_study(finals), by_study(repeats)
    return [
        _view(study, rows, tested.get(study, []), trained.get(study, []), row.budget)
        for study, rows in begun.items()
    ]


class OfStudy(Protocol):
    """What belongs to a study of a run."""

    @property
    def study(self) -> StudyKey: ...  # noqa: D102


Row = TypeVar("Row", bound=OfStudy)


def by_study(rows: Iterable[Row]) -> dict[StudyKey, list[Row]]:
    """Rows of each study, in their order."""
    found: dict[StudyKey, list[Row]] = {}
    for row in rows:
        found.setdefault(row.study, []).append(row)
    return found


def _curves(repeats: Iterable[RepeatScore]) -> dict[int, tuple[float, ...]]:
    scores: dict[int, list[float]] = {}
    for repeat in sorted(repeats, key=lambda repeat: (repeat.trial, repeat.repeat)):
        scores.setdefault(repeat.trial, []).append(repeat.val_score)
    return {trial: tuple(values) for trial, values in scores.items()}


def _view(
    study: StudyKey,
    trials: list[TrialRow],
    finals: list[FinalRow],
    repeats: list[RepeatScore],
    budget: Mapping[str, Any],
) -> StudyView:
    # A study with nothing to search has one trial, complete without repeats.
    plain = len(trials) == 1 and trials[0].state == "complete" and not trials[0].repeats
    best = winner(trials, trials[0].metric, 0 if plain else budget["repeats"])
    own = [final for final in finals if best and final.trial == best.trial]
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
        finals=tuple(sorted(own, key=lambda final: final.repeat)),
        finals_asked=budget["finals"],
        winner=best,
        curves=_curves(repeats),
    )
