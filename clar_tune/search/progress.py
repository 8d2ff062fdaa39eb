"""How far a run is, as plain numbers."""

from dataclasses import dataclass

from clar_tune.metric import metric_named
from clar_tune.search.scheduler import Conductor
from clar_tune.search.study import Course

PRUNED_SHARE = 0.45
"""Repeats that a trial is expected to train under pruning, before any has ended."""


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """One study in numbers."""

    graph: str
    method: str
    condition: str
    metric: str
    trials: int
    complete: int
    pruned: int
    failed: int
    running: int
    best: float | None
    finals: int
    finals_wanted: int
    confirmed: bool

    @property
    def done(self) -> int:
        """Trials that ended."""
        return self.complete + self.pruned + self.failed


@dataclass(frozen=True, slots=True)
class Progress:
    """A run in numbers."""

    studies: tuple[StudyProgress, ...]
    trainings: int
    seconds_left: float | None
    waiting: bool = False
    """No machine is there that could hold a trial."""

    @property
    def confirmed(self) -> int:
        """Studies whose winner has all its finals."""
        return sum(study.confirmed for study in self.studies)

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


def progress_of(conductor: Conductor) -> Progress:
    """The state of a run in numbers."""
    return Progress(
        studies=tuple(map(_study, conductor.courses)),
        trainings=sum(course.trainings for course in conductor.courses),
        seconds_left=_seconds_left(conductor),
        waiting=conductor.pace.waiting,
    )


def _study(course: Course) -> StudyProgress:
    states = [trial.state for trial in course.trials.values()]
    best = course.winner
    columns = course.plan.columns
    return StudyProgress(
        graph=columns.graph,
        method=columns.method,
        condition=columns.condition,
        metric=course.metric,
        trials=len(states) if course.used_up else course.budget,
        complete=states.count("complete"),
        pruned=states.count("pruned"),
        failed=states.count("failed"),
        running=len(course.running),
        best=course.trials[best.trial].val_score if best else None,
        finals=len(course.finals.get(best.trial, {})) if best and course.ended else 0,
        finals_wanted=course.plan.finals,
        confirmed=course.confirmed,
    )


def _seconds_left(conductor: Conductor) -> float | None:
    """Trainings to come, each as long as those of its study, graph or run so far."""
    done = [course for course in conductor.courses if course.trainings]
    if not done:
        return None
    usual = sum(c.seconds for c in done) / sum(c.trainings for c in done)
    total = sum(
        _trainings_left(course)
        * (course.seconds / course.trainings if course.trainings else usual)
        for course in conductor.courses
    )
    return total / conductor.pace.workers


def _trainings_left(course: Course) -> float:
    rules, best = course.plan.rules, course.winner
    done = course.finals.get(best.trial, {}) if best else {}
    finals = max(0, course.plan.finals - len(done))
    if not course.plan.searches:
        return finals
    ended = [trial for trial in course.trials.values() if trial.state != "running"]
    if ended:
        each = sum(trial.repeats for trial in ended) / len(ended)
    else:
        each = rules.repeats * (PRUNED_SHARE if rules.pruning else 1.0)
    left = 0 if course.used_up else course.budget - len(ended)
    return finals + left * each
