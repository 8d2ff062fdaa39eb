"""How far a run is, and how long the rest will take: the one estimate for terminal and page."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clar_tune.analysis.runs import RunView, StudyView
from clar_tune.metric import metric_named
from clar_tune.records import StudyProgress
from clar_tune.rows import PlannedStudy

PRUNED_SHARE = 0.45
"""Share of its repeats that a trial is expected to train under pruning."""
PRIOR_TRIALS = 4
"""How many trials that expectation counts for: the first to end are those that were pruned."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A run in numbers."""

    studies: tuple[StudyProgress, ...]
    workers: int
    waiting: bool = False
    """No machine is there that could hold a trial."""

    @property
    def confirmed(self) -> int:
        """Studies whose winner has all its finals."""
        return sum(study.confirmed for study in self.studies)

    @property
    def trainings(self) -> int:
        """Trainings that are done."""
        return self.total("repeats") + self.total("finals")

    @property
    def trainings_left(self) -> float:
        """About how many trainings are to come."""
        return sum(repeats_left(study) + finals_left(study) for study in self.studies)

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes; none before the first training has ended.

        Each training that is left takes as long as others of its kind did: those of its study,
        else of its graph, else of the run. A final trains the winner, which may take longer or
        shorter than the mean of the search; before there is one, it counts as a repeat.
        """
        if not self.trainings:
            return None
        total = sum(
            repeats_left(study) * self._seconds_each(study, _search)
            + finals_left(study) * self._seconds_each(study, _finals)
            for study in self.studies
        )
        return total / self.workers

    @property
    def best(self) -> StudyProgress | None:
        """The best study of the graph that is served, by validation."""
        scored = [study for study in self.studies if study.best is not None]
        waiting = [study for study in scored if not study.confirmed] or scored[-1:]
        rivals = [study for study in scored if study.graph == waiting[0].graph] if waiting else []
        return max(rivals, key=lambda s: metric_named(s.metric).rank(s.best or 0.0), default=None)

    def total(self, name: str) -> int:
        """One column summed over all studies."""
        return sum(getattr(study, name) for study in self.studies)

    def _seconds_each(self, study: StudyProgress, kind: "Spent") -> float:
        graph = [other for other in self.studies if other.graph == study.graph]
        for count in (kind, _both):
            for alike in ([study], graph, self.studies):
                trainings, seconds = map(sum, zip(*map(count, alike), strict=True))
                if trainings:
                    return seconds / trainings
        return 0.0


Spent = Callable[[StudyProgress], tuple[float, float]]
"""Trainings of a kind in a study, and the time that they took."""


def _search(study: StudyProgress) -> tuple[float, float]:
    return study.repeats, study.search_seconds


def _finals(study: StudyProgress) -> tuple[float, float]:
    return study.finals, study.final_seconds


def _both(study: StudyProgress) -> tuple[float, float]:
    return study.repeats + study.finals, study.search_seconds + study.final_seconds


def repeats_left(study: StudyProgress) -> float:
    """Repeats that a study is expected to train yet.

    Each of its trials is expected to have as many as those that ended, which are weighed with
    what pruning usually leaves: the first to end are the pruned ones, so they alone mislead.
    """
    to_end = study.trials - study.done
    if not to_end or not study.most_repeats:
        return 0.0
    usual = study.most_repeats * (PRUNED_SHARE if study.pruning else 1.0)
    expected = (study.repeats_of_ended + PRIOR_TRIALS * usual) / (study.done + PRIOR_TRIALS)
    begun = study.repeats - study.repeats_of_ended
    return max(to_end * expected - begun, study.running, 0.0)


def finals_left(study: StudyProgress) -> int:
    """Finals that a study is to train yet."""
    return max(0, study.finals_wanted - study.finals)


def stored_progress(run: RunView) -> Progress:
    """How far a stored run is; studies that have not begun count as well."""
    begun: dict[tuple[str, str, str], list[StudyView]] = {}
    for study in run.studies:
        begun.setdefault(study.planned.place, []).append(study)
    searches = run.row.search
    found = [
        entry
        for plan in run.row.planned
        for entry in _entries(plan, begun.get(plan.place, []), searches)
    ]
    return Progress(tuple(found), workers=run.row.workers or 1)


def _entries(
    plan: PlannedStudy, begun: Sequence[StudyView], searches: int
) -> Iterable[StudyProgress]:
    """Searches of a planned study, those that have begun first."""
    yield from map(study_progress, begun)
    for search in range(len(begun), searches):
        yield study_progress(StudyView(search=search, planned=plan))


def study_progress(study: StudyView) -> StudyProgress:
    """How far a stored study is; finals of all arms count."""
    ended = [trial for trial in study.trials if trial.state != "running"]
    arms = ("on", *study.arms_asked) if study.over else ()
    finals = [final for arm in arms for final in study.arm(arm)[: study.finals_asked]]
    wanted = study.finals_asked * (1 + len(study.arms_asked))
    return StudyProgress(
        graph=study.graph,
        method=study.method,
        condition=study.condition,
        metric=study.metric,
        trials=study.budget,
        complete=study.count("complete"),
        pruned=study.count("pruned"),
        failed=study.count("failed"),
        running=study.count("running"),
        repeats=study.repeats,
        repeats_of_ended=sum(trial.repeats for trial in ended),
        most_repeats=study.planned.repeats,
        pruning=bool(study.planned.rungs),
        search_seconds=sum((trial.seconds for trial in study.trials), 0.0),
        best=study.best.val_score if study.best else None,
        finals=len(finals),
        finals_wanted=wanted,
        final_seconds=sum((final.seconds for final in finals), 0.0),
        confirmed=study.over and study.winner is not None and len(finals) >= wanted,
    )
