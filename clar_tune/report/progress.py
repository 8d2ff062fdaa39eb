"""How far runs under way are, and the best so far."""

from collections.abc import Sequence
from dataclasses import dataclass

from clar_tune.analysis import RunView, StudyView, arranged, duration, excerpt
from clar_tune.metric import metric_named
from clar_tune.report import words
from clar_tune.report.formats.texts import name, place

PRUNED_SHARE = 0.45
"""Repeats that a trial is expected to train under pruning, before any has ended."""
MOST_PLACES = 120
"""Of more studies those at work are shown, then the first of each graph."""
ENDED = ("complete", "pruned", "failed")


@dataclass(frozen=True, slots=True)
class Pulse:
    """What only an observer of a run knows of it."""

    driven: bool
    """Whether some driver works on it."""
    rate: float | None = None
    """Trainings per minute, lately."""


@dataclass(frozen=True, slots=True)
class Bar:
    """So many of so many."""

    name: str
    done: int
    asked: int
    parts: tuple[tuple[str, int], ...]
    """What the done ones are, such as complete and pruned."""

    def percent(self, count: int) -> float:
        """A part of all, in percent."""
        return round(100 * count / max(self.asked, self.done, 1), 2)


@dataclass(frozen=True, slots=True)
class BestSoFar:
    """One planned place of a run: its search and what it found until now."""

    graph: str
    method: str
    where: str
    title: str
    best: str
    state: str
    trials: Bar
    finals: str


@dataclass(frozen=True, slots=True)
class Progress:
    """One run in numbers."""

    run: str
    going: bool
    state: str
    bars: tuple[Bar, ...]
    speed: str
    places: tuple[BestSoFar, ...]
    planned: int
    """Places in all; those that are shown may be fewer."""


def progress_of(run: RunView, pulse: Pulse | None = None) -> Progress:
    """The state of a run in numbers; a pulse tells whether it is alive and how fast."""
    gone = run.row.state == "running" and pulse is not None and not pulse.driven
    going = run.row.state == "running" and not gone
    places = _places(run)
    return Progress(
        run=name(run.name),
        going=going,
        state="its driver is gone: resume it" if gone else run.row.state,
        bars=_bars(run),
        speed=_speed(run, pulse) if going and pulse is not None else "",
        places=_shown(places),
        planned=len(places),
    )


def planned(run: RunView) -> list[tuple[str, str, str]]:
    """Graph, condition and method of every study that is planned or has begun."""
    all_ = [(graph, condition, method) for graph, condition, method in run.row.studies]
    begun = [(study.graph, study.condition, study.method) for study in run.studies]
    return list(dict.fromkeys(all_ + begun))


def trainings(run: RunView) -> int:
    """Trainings that are stored: repeats of all trials, finals of winners."""
    return sum(study.repeats + len(study.finals) for study in run.studies)


def trainings_left(run: RunView) -> float:
    """About how many trainings are to come."""
    begun = [_study_left(run, study) for study in run.studies]
    spent = [study.repeats + len(study.finals) for study in run.studies]
    waiting: int = max(0, run.budget["studies"] - len(begun))
    usual = (sum(begun) + sum(spent)) / len(begun) if begun else 0.0
    return sum(begun) + waiting * usual


def _study_left(run: RunView, study: StudyView) -> float:
    finals = float(study.finals_asked - len(study.finals))
    if study.used_up or (study.asked == 1 and not study.repeats):
        return finals
    ended = [trial for trial in study.trials if trial.state in ENDED]
    budget = run.budget
    if ended:
        each = sum(trial.repeats for trial in ended) / len(ended)
    else:
        each = float(budget["repeats"]) * (PRUNED_SHARE if budget["pruning"] else 1.0)
    return finals + max(0, study.asked - len(ended)) * each


def _bars(run: RunView) -> tuple[Bar, ...]:
    budget, studies = run.budget, run.studies
    waiting = max(0, budget["studies"] - len(studies))
    states = {state: sum(study.count(state) for study in studies) for state in ENDED}
    asked = sum(len(s.trials) if s.used_up else s.asked for s in studies)
    confirmed = sum(_is_confirmed(study) for study in studies)
    return (
        Bar("studies confirmed", confirmed, budget["studies"], (("complete", confirmed),)),
        Bar(
            "trials ended",
            sum(states.values()),
            asked + waiting * budget["trials"],
            tuple(states.items()),
        ),
        Bar(
            "finals",
            sum(len(study.finals) for study in studies),
            budget["finals"] * budget["studies"],
            (("complete", sum(len(study.finals) for study in studies)),),
        ),
    )


def _speed(run: RunView, pulse: Pulse) -> str:
    if not pulse.rate:
        return ""
    left = trainings_left(run)
    span = duration(60 * left / pulse.rate)
    return f"{pulse.rate:.3g} trainings per minute; about {left:,.0f} to come, {span}"


def _places(run: RunView) -> list[BestSoFar]:
    columns = run.row.columns or ()
    begun: dict[tuple[str, str, str], list[StudyView]] = {}
    for study in run.studies:
        begun.setdefault((study.graph, study.condition, study.method), []).append(study)
    return [
        _place(run, where, arranged(where, columns)[2], begun.get(where, []))
        for where in planned(run)
    ]


def _shown(places: Sequence[BestSoFar]) -> tuple[BestSoFar, ...]:
    """All of them, or those at work and some others, in their order."""
    if len(places) <= MOST_PLACES:
        return tuple(places)
    busy = [place for place in places if place.state in ("searching", "confirming")]
    rest = excerpt(places, lambda place: place.graph, max(0, MOST_PLACES - len(busy)))
    chosen = {id(place) for place in (*busy[:MOST_PLACES], *rest)}
    return tuple(place for place in places if id(place) in chosen)


def _place(
    run: RunView, where: tuple[str, str, str], label: str, own: Sequence[StudyView]
) -> BestSoFar:
    graph, condition, method = where
    best = _best(own)
    states = {state: sum(study.count(state) for study in own) for state in ENDED}
    asked = sum(len(s.trials) if s.used_up else s.asked for s in own)
    finals = sum(len(study.finals) for study in own)
    return BestSoFar(
        graph=graph,
        method=label,
        where=place(graph, condition),
        title=name(method),
        best=words.score(best, own[0].metric) if own else "",
        state=_state(run, own),
        trials=Bar("trials", sum(states.values()), asked, tuple(states.items())),
        finals=f"{finals}/{sum(study.finals_asked for study in own)}" if own else "",
    )


def _best(studies: Sequence[StudyView]) -> float | None:
    """The best validation score of winners, over repeated searches."""
    scores = [s.best.val_score for s in studies if s.best and s.best.val_score is not None]
    return metric_named(studies[0].metric).best(scores) if scores else None


def _state(run: RunView, studies: Sequence[StudyView]) -> str:
    if not studies:
        return "waiting"
    if len(studies) >= run.budget["searches"] and all(map(_is_confirmed, studies)):
        return "confirmed"
    ended = all(s.used_up or len(s.trials) - s.count("running") >= s.asked for s in studies)
    return "confirming" if ended else "searching"


def _is_confirmed(study: StudyView) -> bool:
    return study.winner is not None and len(study.finals) >= study.finals_asked
