"""The state of one study: its trials, what was decided about each, and its finals."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from clar_tune.metric import metric_named
from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, TrialRow
from clar_tune.search.jobs import Failure, TrainingResult
from clar_tune.search.sampler import Sampler
from clar_tune.search.trial import Trial, training_row, trial_row
from clar_tune.space import StudyPlan
from clar_tune.winner import Winner, winner

Judge = Callable[[int, int, float], bool]
"""Whether a trial goes on, given its number, its repeats so far and their mean score."""

TIE = 1e-9
"""Weight of the loss beside the score: too small to matter unless scores are equal."""

MakeJudge = Callable[[int, int, bool], Judge]
"""Makes a judge from repeats, reduction factor and whether high scores are good."""


class StudyState:
    """The state of one study; all of it can be rebuilt from stored rows."""

    def __init__(self, place: int, plan: StudyPlan, make_judge: MakeJudge) -> None:
        self.place, self.plan, self.metric = place, plan, plan.metric
        self.trials: dict[int, Trial] = {}
        self.running: set[int] = set()
        self.used_up = False
        """A finite space without a configuration that was not tried."""
        self.finals: dict[int, dict[int, float]] = {}
        """Seconds of each final by trial and number; a search knows no test score."""
        self.failed_finals: set[tuple[int, int]] = set()
        self.trainings, self.seconds = 0, 0.0
        self._winner: Winner | None = None
        self.settled = False
        """Ended, with its winner chosen for good."""
        high, rules = metric_named(plan.metric).higher_is_better, plan.rules
        self._judge = make_judge(rules.repeats, rules.reduction, high) if rules.pruning else None
        self._sampler = Sampler(plan, maximise=high) if plan.has_search else None

    @property
    def budget(self) -> int:
        """How many trials it is to have."""
        return self.plan.rules.trials if self.plan.has_search else 1

    @property
    def may_ask(self) -> bool:
        """Whether another trial can start."""
        return not self.used_up and len(self.trials) < self.budget

    @property
    def ended(self) -> bool:
        """Whether the search is over."""
        return not self.may_ask and not self.running

    @property
    def winner(self) -> Winner | None:
        """The winner so far."""
        if self.settled:
            return self._winner
        repeats = self.plan.rules.repeats if self.plan.has_search else 0
        return winner(self.trials.values(), self.metric, repeats)

    def missing_finals(self) -> list[int]:
        """Finals of the winner that are still to be trained."""
        best = self.winner if self.ended else None
        if best is None:
            return []
        done = self.finals.get(best.trial, {})
        return [number for number in range(self.plan.finals) if number not in done]

    @property
    def confirmed(self) -> bool:
        """Whether the winner has all its finals."""
        return self.ended and self.winner is not None and not self.missing_finals()

    @property
    def has_more(self) -> bool:
        """Whether more time would bring it further: trials, or finals that were not tried."""
        best = self.winner
        tried = {index for trial, index in self.failed_finals if best and trial == best.trial}
        return not self.ended or bool(set(self.missing_finals()) - tried)

    def ask(self) -> Trial | None:
        """Start another trial; ``None`` if no configuration is left."""
        number = len(self.trials)
        if self._sampler is None:  # nothing to search: straight to the finals
            params = self.plan.method.complete(self.plan.parameters.at([]))
            trial = Trial(number, params, datetime.now(UTC), state="complete")
            self.trials[number] = trial
            return trial
        proposed = self._sampler.propose(number)
        if proposed is None:
            self._use_up()
            return None
        self.running.add(number)
        trial = self.trials[number] = Trial(number, proposed, datetime.now(UTC))
        return trial

    def record(self, number: int, score: float, loss: float, seconds: float) -> None:
        """Take in one repeat of a trial, and decide whether it goes on."""
        trial = self.trials[number]
        self._end(trial, self._counted(trial, score, loss, seconds))

    def fail(self, number: int, failure: Failure) -> None:
        """End a trial that cannot go on."""
        self.trials[number].failure = failure
        self._end(self.trials[number], "failed")

    def record_final(self, number: int, index: int, seconds: float) -> None:
        """Take in one final."""
        self.finals.setdefault(number, {})[index] = seconds
        self.trainings, self.seconds = self.trainings + 1, self.seconds + seconds

    def restore(self, rows: Iterable[TrialRow], repeats: Iterable[RepeatScore]) -> None:
        """Rebuild from stored rows; ``repeats`` in the order in which they arrived.

        A trial whose last row is older than its last repeat ends as that repeat decides.
        """
        stored = {row.trial: row for row in sorted(rows, key=lambda row: row.trial)}
        for number, row in stored.items():
            trial = self.trials[number] = Trial.of(row)
            if self._sampler:
                self._sampler.start(number, trial.params)
        states = dict.fromkeys(stored, "running")
        for repeat in repeats:
            trial = self.trials[repeat.trial]
            states[trial.trial] = self._counted(
                trial, repeat.val_score, repeat.val_loss, repeat.seconds
            )
        self.running = set(stored)
        for number, row in stored.items():
            # Repeats that were not stored are trained again, whatever the row says of them.
            whole = self.trials[number].repeats == row.repeats and row.state != "running"
            self._end(
                self.trials[number],
                row.state if whole or row.state == "failed" else states[number],
            )
        if self.may_ask and self._sampler is not None and self._sampler.used_up:
            self._use_up()

    def trial_row(self, number: int) -> TrialRow:
        """The row of a trial as it stands."""
        return trial_row(self.plan.columns, self.metric, self.trials[number])

    def training_row(self, number: int, done: TrainingResult) -> RepeatRow | FinalRow:
        """The row of one training of a trial."""
        return training_row(self.plan.columns, number, done)

    def settle(self) -> None:
        """Once ended: keep the winner, and free what only a search needs."""
        self._winner, self.settled = self.winner, True
        self._sampler = self._judge = None

    def _counted(self, trial: Trial, score: float, loss: float, seconds: float) -> str:
        """Add one repeat to a trial; returns the state that it gives the trial."""
        trial.scores.append(score)
        trial.losses.append(loss)
        trial.seconds += seconds
        self.trainings, self.seconds = self.trainings + 1, self.seconds + seconds
        goes_on = self._judge is None or self._judge(trial.trial, trial.repeats, self._rank(trial))
        if trial.repeats >= self.plan.rules.repeats:
            return "complete"
        return "running" if goes_on else "pruned"

    def _use_up(self) -> None:
        """End the search before its budget, which its last trial tells."""
        self.used_up = self.trials[len(self.trials) - 1].used_up = True

    def _rank(self, trial: Trial) -> float:
        """The mean score so far; as for winners, the loss decides between equal ones.

        On graphs with few validation nodes scores are often equal, and ASHA stops no ties.
        """
        score, loss = trial.val_score, trial.val_loss
        assert score is not None and loss is not None
        tie = TIE * loss / (1 + abs(loss))
        return score - tie if metric_named(self.metric).higher_is_better else score + tie

    def _end(self, trial: Trial, state: str) -> None:
        """Give a trial its state; if that is an end, tell the study the truth about it."""
        trial.state = state
        if state == "running":
            return
        self.running.discard(trial.trial)
        score = trial.val_score
        if self._sampler is None:
            return
        if trial.failure:
            self._sampler.fail(trial.trial, hints=trial.failure.hints)
        elif state == "pruned" and score is not None:
            self._sampler.prune(trial.trial, score, trial.repeats)
        elif score is not None:
            self._sampler.complete(trial.trial, score)
