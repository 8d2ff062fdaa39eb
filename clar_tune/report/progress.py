"""How far runs under way are, and the best so far."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from clar_tune.analysis import (
    Place,
    Progress,
    RunView,
    duration,
    excerpt,
    stored_progress,
    to_cell,
)
from clar_tune.metric import metric_named
from clar_tune.records import StudyProgress
from clar_tune.report import numbers
from clar_tune.report.texts import name, place as place_name

MOST_PLACES = 120
"""Of more studies those at work are shown, then the first of each graph."""
ENDED = ("complete", "pruned", "failed")


@dataclass(frozen=True, slots=True)
class Liveness:
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
class RunProgress:
    """One run as the page shows it."""

    run: str
    going: bool
    state: str
    bars: tuple[Bar, ...]
    speed: str
    places: tuple[BestSoFar, ...]
    planned: int
    """Places in all; those that are shown may be fewer."""


def progress_of(run: RunView, liveness: Liveness | None = None) -> RunProgress:
    """The state of a run in numbers; ``liveness`` tells whether it goes on and how fast."""
    gone = run.row.state == "running" and liveness is not None and not liveness.driven
    going = run.row.state == "running" and not gone
    progress = stored_progress(run)
    places = _places(run, progress)
    return RunProgress(
        run=name(run.name),
        going=going,
        state="its driver is gone: resume it" if gone else run.row.state,
        bars=_bars(progress),
        speed=_speed(progress, liveness.rate) if going and liveness is not None else "",
        places=_shown(places),
        planned=len(places),
    )


def _bars(progress: Progress) -> tuple[Bar, ...]:
    states = tuple((state, progress.total(state)) for state in ENDED)
    confirmed, finals = progress.confirmed, progress.total("finals")
    return (
        Bar("studies confirmed", confirmed, len(progress.studies), (("complete", confirmed),)),
        Bar("trials ended", progress.total("done"), progress.total("trials"), states),
        Bar("finals", finals, progress.total("finals_wanted"), (("complete", finals),)),
    )


def _speed(progress: Progress, rate: float | None) -> str:
    """How fast it goes and what is left; the time is that which the terminal shows."""
    if progress.seconds_left is None:
        return ""
    left = f"about {progress.trainings_left:,.0f} to come, {duration(progress.seconds_left)}"
    return f"{rate:.3g} trainings per minute; {left}" if rate else left


def _places(run: RunView, progress: Progress) -> list[BestSoFar]:
    """One for each planned study; repeated searches are taken together."""
    searches: dict[Place, list[StudyProgress]] = {}
    for study in progress.studies:
        searches.setdefault((study.graph, study.condition, study.method), []).append(study)
    return [_place(place, own, run.row.columns or ()) for place, own in searches.items()]


def _shown(places: Sequence[BestSoFar]) -> tuple[BestSoFar, ...]:
    """All of them, or those at work and some others, in their order."""
    if len(places) <= MOST_PLACES:
        return tuple(places)
    busy = [place for place in places if place.state in ("searching", "confirming")]
    rest = excerpt(places, lambda place: place.graph, max(0, MOST_PLACES - len(busy)))
    chosen = {id(place) for place in (*busy[:MOST_PLACES], *rest)}
    return tuple(place for place in places if id(place) in chosen)


def _place(place: Place, searches: Sequence[StudyProgress], columns: Collection[str]) -> BestSoFar:
    graph, condition, method = place
    begun = [study for study in searches if study.done or study.running]
    states = tuple((state, sum(getattr(study, state) for study in begun)) for state in ENDED)
    finals, wanted = sum(s.finals for s in begun), sum(s.finals_wanted for s in begun)
    return BestSoFar(
        graph=graph,
        method=to_cell(place, columns)[2],
        where=place_name(graph, condition),
        title=name(method),
        best=numbers.score(_best(begun), searches[0].metric),
        state=_state(searches, begun),
        trials=Bar("trials", sum(s.done for s in begun), sum(s.trials for s in begun), states),
        finals=f"{finals}/{wanted}" if begun else "",
    )


def _best(studies: Sequence[StudyProgress]) -> float | None:
    """The best validation score of winners, over repeated searches."""
    scores = [study.best for study in studies if study.best is not None]
    return metric_named(studies[0].metric).best(scores) if scores else None


def _state(searches: Sequence[StudyProgress], begun: Sequence[StudyProgress]) -> str:
    if not begun:
        return "waiting"
    if all(study.confirmed for study in searches):
        return "confirmed"
    return "confirming" if all(s.done >= s.trials for s in begun) else "searching"
