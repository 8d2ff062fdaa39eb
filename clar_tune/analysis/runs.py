"""What the store knows about a run, study by study."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from clar_tune.analysis.arms import arms_in, idle_in, plain_partners
from clar_tune.analysis.finals_needed import finals_by_precision
from clar_tune.analysis.manifest_upgrade import upgraded
from clar_tune.metric import metric_named
from clar_tune.rows import FinalRow, PlannedStudy, RepeatScore, RunRow, StudyKey, TrialRow
from clar_tune.store import Store
from clar_tune.winner import Winner, winner


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyView:
    """One study of a stored run."""

    planned: PlannedStudy
    search: int
    trials: tuple[TrialRow, ...] = ()
    finals: tuple[FinalRow, ...] = ()
    """Finals of the winner as it is: those of the arm ``on``."""
    winner: Winner | None = None
    arms: Mapping[str, tuple[FinalRow, ...]] = field(default_factory=dict)
    """Finals of the other arms of the winner, by name, as far as there are any."""
    idle: frozenset[str] = frozenset()
    """Planned arms that the winner does not have: they would be the winner itself, or there is
    no plain winner to cross it with."""
    decided_finals: int | None = None
    """Finals of each arm, once the precision of its graph's effects has decided how many."""
    curves: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    """Validation scores of each trial's repeats in order, where they were asked for."""

    @property
    def graph(self) -> str:
        """Its graph."""
        return self.planned.graph

    @property
    def method(self) -> str:
        """Its method."""
        return self.planned.method

    @property
    def condition(self) -> str:
        """Its condition."""
        return self.planned.condition

    @property
    def protocol(self) -> str:
        """How its nodes are split."""
        return self.planned.protocol

    @property
    def metric(self) -> str:
        """What it is judged by."""
        return self.planned.metric

    @property
    def asked(self) -> int:
        """Trials that it was to have."""
        return self.planned.trials

    @property
    def budget(self) -> int:
        """Trials that its search comes to: fewer than asked where there was nothing to try."""
        unfilled = sum(trial.unfilled for trial in self.trials)
        return len(self.trials) if self.used_up else self.asked - unfilled

    @property
    def finals_asked(self) -> int:
        """Finals that each arm of its winner was to have."""
        return self.decided_finals or self.planned.finals

    @property
    def arms_asked(self) -> tuple[str, ...]:
        """Arms that its winner was to have beside ``on``."""
        return tuple(arm for arm in self.planned.arms if arm not in self.idle)

    @property
    def finals_done(self) -> int:
        """Finals of all arms of its winner."""
        return sum(len(self.arm(arm)) for arm in ("on", *self.arms_asked))

    def arm(self, name: str) -> tuple[FinalRow, ...]:
        """Finals of one arm of the winner, in the order of their pairs."""
        return self.finals if name == "on" else self.arms.get(name, ())

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
    def over(self) -> bool:
        """Whether its search has ended."""
        return len(self.trials) - self.count("running") >= self.budget

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


def best_search(studies: Iterable[StudyView]) -> StudyView | None:
    """Of repeated searches the one whose winner validates best."""

    def rank(study: StudyView) -> float:
        score = study.best.val_score if study.best else None
        return metric_named(study.metric).rank(score or 0.0)

    return max(studies, key=rank, default=None)


def read_run(store: Store, name: str, *, curves: bool = False) -> RunView:
    """A run as stored; ``curves`` reads the repeats of its trials too."""
    run = store.find(name)
    trials, finals = store.trials(run.name), store.finals(run.name)
    row = upgraded(run.row, trials)
    repeats = store.repeat_scores(run.name) if curves else ()
    return RunView(run.name, row, tuple(studies_of(row, trials, finals, repeats)))


def studies_of(
    row: RunRow,
    trials: Iterable[TrialRow],
    finals: Iterable[FinalRow],
    repeats: Iterable[RepeatScore] = (),
) -> list[StudyView]:
    """The studies of a run that have begun, in the order in which they did."""
    begun = by_study(sorted(trials, key=lambda trial: (trial.started, trial.trial)))
    tested, trained = by_study(finals), by_study(repeats)
    plans = {(plan.graph, plan.method, plan.condition): plan for plan in row.planned}
    views = {
        study: _view(plans[study[:3]], rows, tested.get(study, []), trained.get(study, []))
        for study, rows in begun.items()
    }
    partners, found = plain_partners(row.planned), []
    for study, view in views.items():
        partner = partners.get(study[:3])
        plain = views.get((*partner, study[3])) if partner else None
        found.append(_with_arms(view, plain, tested.get(study, [])))
    decided = finals_by_precision(row, found)
    return [
        replace(view, decided_finals=decided[view.graph]) if view.graph in decided else view
        for view in found
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


def _with_repeats(trial: TrialRow, repeats: Iterable[RepeatScore]) -> TrialRow:
    """A trial under way with the trainings that it had: its row is renewed when it ends."""
    if trial.state != "running":
        return trial
    had = [repeat.seconds for repeat in repeats if repeat.trial == trial.trial]
    return replace(trial, repeats=len(had), seconds=sum(had)) if had else trial


def _curves(repeats: Iterable[RepeatScore]) -> dict[int, tuple[float, ...]]:
    scores: dict[int, list[float]] = {}
    for repeat in sorted(repeats, key=lambda repeat: (repeat.trial, repeat.repeat)):
        scores.setdefault(repeat.trial, []).append(repeat.val_score)
    return {trial: tuple(values) for trial, values in scores.items()}


def _view(
    planned: PlannedStudy,
    trials: list[TrialRow],
    finals: list[FinalRow],
    repeats: list[RepeatScore],
) -> StudyView:
    trials = [_with_repeats(trial, repeats) for trial in trials]
    best = winner(trials, planned.metric, planned.repeats)
    confirmed = [
        final for final in finals if best and final.arm == "on" and final.trial == best.trial
    ]
    return StudyView(
        planned=planned,
        search=trials[0].search,
        trials=tuple(trials),
        finals=tuple(sorted(confirmed, key=lambda final: final.repeat)),
        winner=best,
        curves=_curves(repeats),
    )


def _with_arms(study: StudyView, plain: StudyView | None, finals: list[FinalRow]) -> StudyView:
    """A study with the arms of its winner; ``plain`` is the study that it is crossed with."""
    if study.best is None:
        return study
    known = plain is not None and plain.over
    other = plain.best if plain is not None and known else None
    regularizer = study.method.partition("+")[2] or "none"
    idle = idle_in(regularizer, study.best.params, crossed=not known or other is not None)
    return replace(
        study,
        arms=arms_in(finals, study.best.params, other.params if other else None),
        idle=idle if study.over else frozenset(),
    )
