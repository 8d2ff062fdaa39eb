"""The state of one study: its trials, what was decided about each, and its finals."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import dropwhile
from typing import NamedTuple, Protocol

from clar_tune.metric import metric_named
from clar_tune.records import Params
from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, TrialRow, rungs_up_to
from clar_tune.search.exchange import Point
from clar_tune.search.finals import Finals
from clar_tune.search.jobs import Failure, TrainingResult
from clar_tune.search.sampler import Sampler
from clar_tune.search.trial import Trial, training_row, trial_row
from clar_tune.space import StudyPlan
from clar_tune.winner import Winner, winner


class Judge(Protocol):
    """Stops trials, each known by its number, by its repeats so far and their mean score."""

    def __call__(self, trial: int, repeats: int, mean: float, /) -> bool:
        """Whether a trial goes on; it counts for those that come after it."""

    def record(self, trial: int, repeats: int, mean: float, /) -> None:
        """Let it count for others, without a decision."""


TIE = 1e-9
"""Weight of the loss beside the score: too small to matter unless scores are equal."""

MakeJudge = Callable[[int, int, bool], Judge]
"""Makes a judge from repeats, reduction factor and whether high scores are good."""


@dataclass(slots=True)
class Ended:
    """What the trials that ended come to."""

    states: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    seconds: float = 0.0


class _Stored(NamedTuple):
    """What the row of a trial told when it was restored."""

    state: str
    repeats: int
    used_up: bool


class StudyState:
    """The state of one study; all of it can be rebuilt from stored rows."""

    def __init__(self, place: int, plan: StudyPlan, make_judge: MakeJudge) -> None:
        self.place, self.plan, self.metric = place, plan, plan.metric
        self.trials: dict[int, Trial] = {}
        """All trials; of a study that is settled the winner alone."""
        self.asked = 0
        """How many trials it had so far."""
        self.running: set[int] = set()
        self.over = Ended()
        self.used_up = False
        """A finite space without a configuration that was not tried."""
        self.points: tuple[Point, ...] | None = None
        """What is left to try in the exchange, once all of its group are ready for that."""
        self._unfilled = 0  # trials of the exchange for which there was no point
        self.finals = Finals(plan)
        self.trainings, self.seconds = 0, 0.0
        self._best: list[Trial] = []  # the winner so far, if there is one
        self.settled = False
        """Ended, with its winner chosen for good."""
        high, rules = metric_named(plan.metric).higher_is_better, plan.rules
        self._judge = make_judge(rules.repeats, rules.reduction, high) if rules.pruning else None
        self._rungs = rungs_up_to(rules.repeats, rules.reduction) if rules.pruning else ()
        self._sampler = Sampler(plan, maximise=high) if plan.has_search else None
        self._stored: dict[int, _Stored] = {}  # trials, while they are restored
        self._behind = False  # whether the sampler has not heard of them

    @property
    def budget(self) -> int:
        """How many trials it is to have."""
        return self.plan.rules.trials - self._unfilled if self.plan.has_search else 1

    @property
    def may_ask(self) -> bool:
        """Whether another trial can start."""
        return not self.used_up and self.asked < self.budget

    @property
    def waits(self) -> bool:
        """Whether its next trial is one of the exchange, for which others are not ready."""
        return self.points is None and self.may_ask and self._exchanges(self._unused())

    @property
    def searched(self) -> bool:
        """Whether its trials before the exchange have ended."""
        start = self.plan.first_trials - self.plan.exchanged
        return self.ended or (self._unused() >= start and all(n >= start for n in self.running))

    @property
    def first_trials(self) -> list[Trial]:
        """Its trials before the exchange."""
        start = self.plan.first_trials - self.plan.exchanged
        return [self.trials[number] for number in sorted(self.trials) if number < start]

    @property
    def ended(self) -> bool:
        """Whether the search is over."""
        return not self.may_ask and not self.running

    @property
    def winner(self) -> Winner | None:
        """The winner so far."""
        repeats = self.plan.rules.repeats if self.plan.has_search else 0
        return winner(self._best, self.metric, repeats)

    @property
    def last(self) -> Trial:
        """The trial with the highest number."""
        return self.trials[max(self.trials)]

    @property
    def best(self) -> Trial | None:
        """The trial that wins so far."""
        return self._best[0] if self._best else None

    @property
    def confirmed(self) -> bool:
        """Whether the winner has all its finals."""
        return self.settled and self.finals.complete

    @property
    def has_more(self) -> bool:
        """Whether more time would bring it further: trials, or finals that were not tried."""
        return not self.ended or self.finals.has_more

    def ask(self) -> Trial | None:
        """Start another trial; ``None`` if no configuration is left."""
        number = self._unused()
        if self._sampler is None:  # nothing to search: straight to the finals
            params = self.plan.complete(self.plan.parameters.at([]))
            trial = self._begin(Trial(number, params, datetime.now(UTC)))
            self._end(trial, "complete")
            return trial
        self._catch_up(self._sampler)
        if self._exchanges(number):
            return self._ask_exchanged(number, self._sampler)
        proposed = self._sampler.propose(number)
        if proposed is None:
            self._use_up()
            return None
        origin = self._sampler.origin(number)
        return self._begin(Trial(number, proposed, datetime.now(UTC), origin=origin))

    def next_rung(self, repeats: int) -> int:
        """How many repeats a trial with so many has when it is judged next."""
        most = self.plan.rules.repeats
        return next((rung for rung in self._rungs if rung > repeats), most)

    def record(self, number: int, score: float, loss: float, seconds: float) -> None:
        """Take in one repeat of a trial, and decide whether it goes on."""
        trial = self.trials[number]
        self._count(trial, score, loss, seconds)
        state = self._judged(trial)
        if state != "running":
            self._end(trial, state)

    def fail(self, number: int, failure: Failure) -> None:
        """End a trial that cannot go on."""
        self.trials[number].failure = failure
        self._end(self.trials[number], "failed")

    def record_final(
        self, arm: str, params: Params, number: int, seconds: float, score: float
    ) -> None:
        """Take in one final."""
        self.finals.record(arm, params, number, seconds, score)
        self.trainings, self.seconds = self.trainings + 1, self.seconds + seconds

    def restore(self, rows: Iterable[TrialRow]) -> None:
        """Take in the stored trials; their repeats come next."""
        for row in sorted(rows, key=lambda row: row.trial):
            self._begin(Trial.of(row))
            self._stored[row.trial] = _Stored(row.state, row.repeats, row.used_up)
            self._unfilled += row.unfilled
        self._behind = True

    def restore_repeat(self, repeat: RepeatScore) -> None:
        """Take in a stored repeat, in the order of arrival.

        What its trial's row tells was decided then: the repeat counts for others, and nothing is
        decided again. Only what is newer than that row is judged. What is stored twice, or of a
        trial that is not, does not count.
        """
        trial, stored = self.trials.get(repeat.trial), self._stored.get(repeat.trial)
        if trial is None or stored is None or repeat.repeat != trial.repeats:
            return
        known = trial.repeats < stored.repeats
        if not known and stored.state != "running":
            return
        self._count(trial, repeat.val_score, repeat.val_loss, repeat.seconds)
        if not known:
            trial.state = self._judged(trial)
        elif self._judge is not None and trial.repeats in self._rungs:
            self._judge.record(trial.trial, trial.repeats, self._rank(trial))
        if trial.repeats == stored.repeats and stored.state != "running":
            self._end(trial, stored.state)

    def restored(self) -> list[int]:
        """All repeats are there; returns the trials whose stored row is to be renewed.

        Repeats that were not stored are trained again, whatever the row says of them.
        """
        for number in sorted(self.running):
            trial, stored = self.trials[number], self._stored[number]
            if stored.state == "failed" or trial.repeats == stored.repeats:
                trial.state = stored.state
            if trial.state != "running":
                self._end(trial, trial.state)
        self._check_used_up()
        told = {number: (was.state, was.used_up) for number, was in self._stored.items()}
        self._stored = {}
        return [
            n for n, was in told.items() if was != (self.trials[n].state, self.trials[n].used_up)
        ]

    def trial_row(self, number: int) -> TrialRow:
        """The row of a trial as it stands."""
        return trial_row(self.plan.columns, self.metric, self.trials[number])

    def training_row(self, number: int, done: TrainingResult) -> RepeatRow | FinalRow:
        """The row of one training of a trial."""
        return training_row(self.plan.columns, number, done)

    def settle(self) -> None:
        """Once ended: keep the winner, whose finals follow, and free what only a search needs."""
        self.settled = True
        if self._best:
            self.finals.choose(self._best[0].params)
        self._sampler = self._judge = None
        if self.points is not None or not self.plan.exchanged:  # else others ask for them yet
            self.trials = {trial.trial: trial for trial in self._best}

    def _unused(self) -> int:
        """The number of the next trial; one whose row was lost is asked again."""
        if self.asked not in self.trials:
            return self.asked
        return next(number for number in range(self.asked) if number not in self.trials)

    def _exchanges(self, number: int) -> bool:
        """Whether a trial is one of the exchange; those of an extended search are not."""
        first, last = self.plan.first_trials - self.plan.exchanged, self.plan.first_trials
        return first <= number < last - self._unfilled

    def _ask_exchanged(self, number: int, sampler: Sampler) -> Trial | None:
        """Try what another method found; without any other point the study goes without."""
        assert self.points is not None
        left = tuple(dropwhile(lambda point: sampler.has_tried(point.params), self.points))
        if not left:
            self._unfilled = self.last.unfilled = self.plan.first_trials - number
            return None
        point, self.points = left[0], left[1:]
        sampler.start(number, point.params)
        now = datetime.now(UTC)
        trial = Trial(number, point.params, now, origin="exchange", shared_from=point.source)
        return self._begin(trial)

    def _begin(self, trial: Trial) -> Trial:
        self.trials[trial.trial] = trial
        self.asked += 1
        self.running.add(trial.trial)
        return trial

    def _count(self, trial: Trial, score: float, loss: float, seconds: float) -> None:
        """Add one repeat to a trial."""
        trial.add(score, loss, seconds)
        self.trainings, self.seconds = self.trainings + 1, self.seconds + seconds

    def _judged(self, trial: Trial) -> str:
        """The state that its last repeat gives a trial."""
        judge = self._judge if trial.repeats in self._rungs else None
        goes_on = judge is None or judge(trial.trial, trial.repeats, self._rank(trial))
        if trial.repeats >= self.plan.rules.repeats:
            return "complete"
        return "running" if goes_on else "pruned"

    def _check_used_up(self) -> None:
        """End a search of which what is stored leaves nothing to try."""
        count, sampler = self.plan.parameters.count, self._sampler
        if not self.may_ask or sampler is None or count is None or self.asked < count:
            return
        self._catch_up(sampler)
        if sampler.used_up:
            self._use_up()

    def _use_up(self) -> None:
        """End the search before its budget, which its last trial tells."""
        self.used_up = self.last.used_up = True

    def _rank(self, trial: Trial) -> float:
        """The mean score so far; as for winners, the loss decides between equal ones.

        On graphs with few validation nodes scores are often equal, and ASHA stops no ties.
        """
        score, loss = trial.val_score, trial.val_loss
        assert score is not None and loss is not None
        tie = TIE * loss / (1 + abs(loss))
        return score - tie if metric_named(self.metric).higher_is_better else score + tie

    def _end(self, trial: Trial, state: str) -> None:
        """End a trial; its study's sampler hears the truth about it."""
        trial.end(state)
        self.running.discard(trial.trial)
        self.over.states[state] += 1
        self.over.repeats += trial.repeats
        self.over.seconds += trial.seconds
        best = winner((*self._best, trial), self.metric, 0)
        self._best = [self.trials[best.trial]] if best else []
        if self._sampler is not None and not self._behind:
            _tell(self._sampler, trial)

    def _catch_up(self, sampler: Sampler) -> None:
        """Tell the sampler what was stored, once it is asked something."""
        if not self._behind:
            return
        self._behind = False
        for number, trial in self.trials.items():
            sampler.start(number, trial.params)
        for trial in self.trials.values():
            if trial.state != "running":
                _tell(sampler, trial)


def _tell(sampler: Sampler, trial: Trial) -> None:
    """Tell a sampler what became of a trial."""
    score = trial.val_score
    if trial.failure:
        sampler.fail(trial.trial, hints=trial.failure.hints)
    elif trial.state == "pruned" and score is not None:
        sampler.prune(trial.trial, score, trial.repeats)
    elif score is not None:
        sampler.complete(trial.trial, score)
