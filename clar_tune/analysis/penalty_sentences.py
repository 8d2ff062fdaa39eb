"""Whether penalties took part in trainings at all, in sentences."""

from collections.abc import Iterator, Sequence

from clar_tune.analysis.layout import whole_condition
from clar_tune.analysis.records import Score
from clar_tune.analysis.scores import COMPLEMENT, WEIGHTS
from clar_tune.analysis.wording import named, some

INACTIVE = 0.05
"""A penalty with a gradient in a smaller share of epochs hardly took part."""
COLLAPSED = 0.05
"""Outputs that were all equal in a larger share of epochs are worth a word."""


def idle_penalties(scores: Sequence[Score]) -> Iterator[str]:
    """Penalties without a gradient, and those that made all outputs equal."""
    idle = [
        f"{named(score)} ({100 * score.penalty_active:.1f} %)"
        for score in scores
        if score.penalty_active is not None
        and score.penalty_active < INACTIVE
        and not score.weightless
    ]
    if idle:
        yield (
            f"The penalty had a gradient in hardly any epoch of {some(idle)}: it stood above its "
            "clamp or was zero. Where it never had one, the backbone alone was trained."
        )
    flat = [
        f"{named(score)} ({100 * score.penalty_zero:.0f} % of epochs)"
        for score in scores
        if score.penalty_zero is not None and score.penalty_zero > COLLAPSED
    ]
    if flat:
        yield f"The penalty was zero, all outputs being equal, in {some(flat)}."


def declined_penalties(scores: Sequence[Score]) -> Iterator[str]:
    """Winners whose weights make them another method."""
    chosen = [score for score in scores if not _fixes_weights(score)]
    off = [score for score in chosen if score.weightless]
    if off:
        yield (
            f"Unused: the search declined the penalty (weight 0, the plain backbone) of "
            f"{some(map(named, off))}: what differs there is no effect of the penalty."
        )
    half = [score for score in chosen if score.without_complement]
    if half:
        yield (
            f"Validation chose {COMPLEMENT} 0, which is nl, for {some(map(named, half))}: what "
            "differs there is no effect of the complement."
        )


def _fixes_weights(score: Score) -> bool:
    """Whether the condition, and not validation, says what the weights are."""
    given = whole_condition((score.graph, score.condition, score.method))
    return any(weight in given for weight in WEIGHTS)
