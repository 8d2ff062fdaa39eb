"""How often each term of a penalty had a gradient, stood above its clamp, or was zero."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from clar_tune.models import Penalty


@dataclass(slots=True)
class TermCounts:
    """In how many epochs one term was where."""

    active: int = 0
    """Where it has a gradient, also if that is but rounding."""
    above: int = 0
    """Above its clamp: switched off."""
    zero: int = 0
    """At zero, or below it where it is held there: all outputs are equal."""


@dataclass(slots=True)
class PenaltyCounts:
    """The counts of each term over the epochs of a training."""

    terms: dict[str, TermCounts] = field(default_factory=dict)

    def add(self, values: Mapping[str, float], penalty: Penalty) -> None:
        """Count one epoch with its reduced value of each term."""
        low, high = penalty.limits
        for name, value in values.items():
            counts = self.terms.setdefault(name, TermCounts())
            counts.active += low < value <= high
            counts.above += value > high
            counts.zero += value <= low or abs(value) <= penalty.zero

    def most(self, count: str) -> int:
        """The number of epochs of the term that has the most of them."""
        return max((getattr(counts, count) for counts in self.terms.values()), default=0)
