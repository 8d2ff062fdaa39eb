"""Verdicts on a family of effects: two procedures of Holm, and what stands in their way.

One procedure over all tests of a difference, one over all tests of equality, each at 5 %. A single
one over both, or over their minimum, would promise nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from clar_tune.analysis.statistics import LEVEL, holm

VERDICTS = (
    *("better", "worse", "equal", "undecided"),
    *("unused", "at the floor", "none"),
)
"""``unused``: the search declined the penalty. ``at the floor``: neither side beats a constant.
``none``: planned, and without a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is known of one planned effect before its family is judged."""

    mean: float = 0.0
    p_difference: float = 1.0
    """Of the t-test; where trainings collapsed, the larger of it and that of sign flips."""
    p_equal: float = 1.0
    missing: bool = False
    """Failed or not yet there: it stays in its family with p = 1."""
    unused: bool = False
    """The winner's penalty is off: the effect is 0 by construction, and nothing was tested."""
    no_spread: bool = False
    """All differences are equal, so that there is nothing to weigh them against."""
    may_be_better: bool = True
    """Whether the side with the penalty beats the floor, as far as that is known, and does not
    lose to the plain winner."""
    may_be_worse: bool = True
    """Whether the side without it is known to beat the floor."""
    beats_floor: bool = True
    """Whether either side does, or may: false only where neither is above a known floor."""
    may_be_equal: bool = True
    """False where trainings collapsed: a spread with rare disasters proves no equality."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided, and the corrected p of both tests."""

    word: str
    p_difference: float
    p_equal: float
    small: bool = False
    """Better or worse, and by less than the margin."""


def verdicts(family: Sequence[Finding], level: float = LEVEL) -> list[Verdict]:
    """Judge a whole family of planned effects, at 5 % for each of both kinds of errors."""
    tested = [not (one.missing or one.unused or one.no_spread) for one in family]
    pairs = list(zip(family, tested, strict=True))
    different = holm([one.p_difference if counts else 1.0 for one, counts in pairs])
    equal = holm([one.p_equal if counts and one.may_be_equal else 1.0 for one, counts in pairs])
    return [
        _verdict(one, p_difference, p_equal, level)
        for one, p_difference, p_equal in zip(family, different, equal, strict=True)
    ]


def _verdict(one: Finding, p_difference: float, p_equal: float, level: float) -> Verdict:
    differs, equals = p_difference < level, p_equal < level
    if one.missing:
        word = "none"
    elif one.unused:
        word = "unused"
    elif not one.beats_floor:
        word = "at the floor"
    elif one.no_spread:
        word = "equal" if not one.mean else "undecided"
    elif differs and one.mean > 0 and one.may_be_better:
        word = "better"
    elif differs and one.mean < 0 and one.may_be_worse:
        word = "worse"
    else:
        word = "equal" if equals else "undecided"
    small = word in ("better", "worse") and equals
    return Verdict(word, p_difference, p_equal, small)


def level_of_look(look: int) -> float:
    """The level at look number ``look``, from 0: verdicts printed before cannot be unseen."""
    return LEVEL * 2.0**-look


def promise_of_look(look: int) -> float:
    r"""The chance of any false claim at this look or before it, at most.

    .. math:: 0.05 \sum_{l=0}^{L} 2^{-l} = 0.05\,(2 - 2^{-L})

    5 % for a family that was looked at once, 7.5 % for one that was extended, never above 10 %.
    """
    return sum(level_of_look(earlier) for earlier in range(look + 1))
