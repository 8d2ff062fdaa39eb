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
    ended = [trial for trial in trials if trial.state in ("complete", "pruned")]
    if not ended:
        return None
    most = max(trial.repeats for trial in ended)
    rank = metric_named(metric).rank
    best = min(
        (trial for trial in ended if trial.repeats == most),
        key=lambda trial: (-rank(trial.val_score or 0.0), trial.val_loss or 0.0, trial.trial),
    )
    return Winner(best.trial, full=most >= repeats)
