"""Which trial of a study wins."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from clar_tune.metric import metric_named


class Judged(Protocol):
    """What a winner is chosen by; rows of ``trials`` have it."""

    @property
    def trial(self) -> int: ...  # noqa: D102
    @property
    def state(self) -> str: ...  # noqa: D102
    @property
    def repeats(self) -> int: ...  # noqa: D102
    @property
    def val_score(self) -> float | None: ...  # noqa: D102
    @property
    def val_loss(self) -> float | None: ...  # noqa: D102


class Winner(NamedTuple):
    """The trial that wins, and whether it had all the repeats that were asked for."""

    trial: int
    full: bool


def winner(trials: Iterable[Judged], metric: str, repeats: int) -> Winner | None:
    """The highest mean score among the trials with most repeats.

    Ties go to the lower mean validation loss, then to the lower number. Failed trials and
    unfinished ones never win. A study without a search has one trial, without repeats.
    """
    best = max(filter(may_win, trials), key=lambda trial: preference(trial, metric), default=None)
    return None if best is None else Winner(best.trial, full=best.repeats >= repeats)


def may_win(trial: Judged) -> bool:
    """Whether a trial has ended, and not failed."""
    return trial.state in ("complete", "pruned")


def preference(trial: Judged, metric: str) -> tuple[float, ...]:
    """Puts trials in the order in which their study prefers them, the best last.

    Failed ones come first, then those with few repeats: a lucky first repeat is no result.
    """
    score, loss = trial.val_score or 0.0, trial.val_loss or 0.0
    return may_win(trial), trial.repeats, metric_named(metric).rank(score), -loss, -trial.trial
