"""A correlation as a frozen record; scores are in natural units."""

from dataclasses import dataclass

from clar_tune.records import stored_as


@stored_as("condition", "x", "y")
@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point of a correlation."""

    condition: str
    """What it stands for: the value of the key, or the cell of the grid."""
    x: float
    y: float
    """Means over finals; ``x`` of a Spearman correlation is the value of the key itself."""


@stored_as(
    *("kind", "graph", "method", "condition", "metric", "key", "values", "coefficient", "low"),
    *("high", "paper", "pairs", "units", "points", "identical", "apart", "gap", "gap_half"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How scores depend on a key of the conditions, or agree under two of its values."""

    kind: str
    """``spearman``: the key's values and the scores. ``pearson``: scores under two values."""
    graph: str
    method: str
    condition: str
    """What else is fixed; empty for ``pearson``, where the rest makes the cells."""
    metric: str
    key: str
    values: tuple[str, ...]
    """All values of the key in ascending order, or the two: that of ``x``, that of ``y``."""
    coefficient: float | None
    """None where scores do not vary, or where too few are there yet."""
    low: float | None
    high: float | None
    """Ends of the 95 % interval."""
    paper: float | None
    """What the paper prints for it."""
    pairs: int
    """Pairs of numbers that the coefficient is taken over."""
    units: int
    """Units behind every point: splits, seeds on fixed splits, or repeated searches."""
    points: tuple[Point, ...]
    identical: int = 0
    """Points of ``pearson`` whose finals are the very same trainings under both values."""
    apart: float | None = None
    """The coefficient without these points, if there are any."""
    gap: float | None = None
    gap_half: float | None = None
    """Mean of y - x over all points and half of its 95 % interval over finals (``pearson``)."""
