"""Verdicts at a glance: how often each regularizer was better, worse, or neither."""

from dataclasses import dataclass

from clar_tune.analysis import Comparison, split_label
from clar_tune.report.formats.texts import name
from clar_tune.report.matrix import MARKS

ORDER = ("better", "undecided", "worse", "none")


@dataclass(frozen=True, slots=True)
class Tally:
    """The verdicts on one regularizer against its plain backbones."""

    regularizer: str
    counts: tuple[tuple[str, str, int], ...]
    """Verdict, its sign, how often."""

    @property
    def total(self) -> int:
        """Comparisons in all."""
        return sum(count for _, _, count in self.counts)


def tallies_of(comparison: Comparison) -> list[Tally]:
    """One tally per regularizer, and condition of its column, in the order of the comparison."""
    verdicts: dict[str, list[str]] = {}
    for contrast in comparison.contrasts:
        if not contrast.rival:
            method, condition = split_label(contrast.method)
            regularizer = f"{method.partition('+')[2]} {condition}".strip()
            verdicts.setdefault(regularizer, []).append(contrast.verdict)
    return [
        Tally(
            name(regularizer),
            tuple((verdict, MARKS[verdict], found.count(verdict)) for verdict in ORDER),
        )
        for regularizer, found in verdicts.items()
    ]
