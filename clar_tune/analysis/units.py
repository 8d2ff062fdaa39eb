"""What finals of different arms and methods are paired by, and what is measured on each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from clar_tune.analysis.scopes import Effect, over_new_data, over_splits, over_splits_of_stein
from clar_tune.graphs import Protocol
from clar_tune.rows import FinalRow

Unit = tuple[int, ...]
"""What pairs finals: the split, on a single fixed split with the seed."""
ByUnit = Mapping[Unit, float]


def unit_of(final: FinalRow, protocol: Protocol) -> Unit:
    """Which unit of its protocol a final belongs to."""
    seed = protocol.units == "seed"
    return (final.split_seed, final.init_seed) if seed else (final.split_seed,)


def by_unit(
    finals: Iterable[FinalRow],
    protocol: Protocol,
    value: Callable[[FinalRow], float | None] = lambda final: final.test_score,
) -> dict[Unit, float]:
    """The value of each unit, averaged over its seeds, in the order of finals."""
    found: dict[Unit, list[float]] = {}
    for final in finals:
        own = value(final)
        if own is not None:
            found.setdefault(unit_of(final, protocol), []).append(own)
    return {unit: fmean(values) for unit, values in found.items()}


def difference(one: ByUnit, other: ByUnit, sign: float = 1.0) -> dict[Unit, float]:
    """One less the other on the units that both have."""
    return {unit: sign * (own - other[unit]) for unit, own in one.items() if unit in other}


def mean_of(one: ByUnit, other: ByUnit) -> dict[Unit, float]:
    """The mean of both on the units that both have."""
    return {unit: (own + other[unit]) / 2 for unit, own in one.items() if unit in other}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the units of a row are, and how a mean over them is judged."""

    protocol: Protocol
    sign: float
    """1 where a higher score is better, else -1."""
    over_searches: bool = False
    """Whether searches were repeated: then each is one unit, else each split, file or seed is."""
    test_share: float = 0.0
    """Test nodes per training node, if the mean is to hold for new data; 0 for new splits."""
    first: int | None = None
    """The first units whose spread decided how many there are (Stein), if it did."""

    @property
    def plainly(self) -> "Ground":
        """The same for new splits of this graph, whatever decided their number."""
        return replace(self, test_share=0.0, first=None)

    @property
    def unit(self) -> str:
        """What a unit is called."""
        return "search" if self.over_searches else self.protocol.units

    def values(self, searches: Sequence[ByUnit]) -> list[float]:
        """The value of each unit: of a search the mean over its splits."""
        if self.over_searches:
            return [fmean(own.values()) for own in searches if own]
        return [value for own in searches for value in own.values()]

    def effect(self, searches: Sequence[ByUnit]) -> Effect | None:
        """The mean over units with its error; none for fewer than two of them."""
        values = self.values(searches)
        if len(values) < 2:
            return None
        if self.test_share:
            groups = searches if self.over_searches else ()
            return over_new_data(values, self.test_share, [list(g.values()) for g in groups])
        if self.first is not None and self.first <= len(values):
            return over_splits_of_stein(values, self.first)
        return over_splits(values)
