"""What a penalty does, as frozen records; scores are in natural units, accuracies as fractions."""

from dataclasses import dataclass

from clar_tune.errors import ParameterError, UnknownName
from clar_tune.records import stored_as

SPLITS, NODES = "splits", "nodes"
"""The scopes: this graph, new splits; these nodes as a sample."""
INTERVALS = (SPLITS, "nadeau-bengio")
"""What intervals and tests of the first scope are for: new splits of this graph, or new data."""
BASELINE = "gcn"
"""The backbone that others are measured by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """By what a reader judges; without a margin it is that of the run."""

    margin: float | None = None
    interval: str = SPLITS
    baseline: str = BASELINE

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < 1:
            raise ParameterError(
                f"margin {100 * self.margin:g} points: choose one above 0 and below 100."
            )
        if self.interval not in INTERVALS:
            raise UnknownName("interval", self.interval, INTERVALS)


@stored_as(
    *("graph", "condition", "method", "against", "regularizer", "protocol", "verdict", "small"),
    *(
        "effect",
        "half",
        "error",
        "freedom",
        "units",
        "unit",
        "kept",
        "kept_half",
        "crossed",
        "crossed_half",
    ),
    *("nodes_half", "scope", "p", "p_holm", "p_equal", "p_equal_holm", "family", "margin"),
    *("spread", "detectable", "needed", "reason", "on_plain", "on_plain_half"),
    *("balanced", "balanced_half", "over_nl", "over_nl_half", "over_any", "over_any_half"),
    *("above_floor", "plain_above_floor", "collapsed", "finals", "at_cap"),
    later=("configuration",),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PenaltyEffect:
    """What switching a penalty on changes, at the configurations that the search found.

    A positive number is an improvement; halves are those of 95 % intervals. A planned cell without
    a result has none of the numbers.
    """

    graph: str
    condition: str
    method: str
    against: str
    """Its plain backbone; empty where none was planned."""
    regularizer: str
    protocol: str
    verdict: str = "none"
    """One of ``verdicts.VERDICTS``."""
    small: bool = False
    """Better or worse, and by less than the margin."""
    effect: float | None = None
    """Mean of both halves, formed unit by unit; of one half where the other is not there."""
    half: float | None = None
    error: float | None = None
    """Its standard error over units, and the degrees of freedom of Student's t."""
    freedom: int = 0
    units: int = 0
    unit: str = ""
    """What a unit is: ``split``, ``file``, ``seed`` or ``search``."""
    kept: float | None = None
    """``on`` less ``off``: at the regularized winner's shared parameters."""
    kept_half: float | None = None
    crossed: float | None = None
    """``cross`` less plain: at the plain winner's."""
    crossed_half: float | None = None
    nodes_half: float | None = None
    """Half of the interval had the nodes been drawn anew."""
    scope: str = SPLITS
    """Which of both scopes the verdict is of."""
    p: float | None = None
    p_holm: float | None = None
    p_equal: float | None = None
    p_equal_holm: float | None = None
    family: int = 0
    """How many cells were planned for the same question."""
    margin: float = 0.0
    """Effects below it count as none; for errors, a part of the plain error."""
    spread: float | None = None
    """Standard deviation of the effect over units."""
    detectable: float | None = None
    needed: int | None = None
    """About how many finals would decide it, if it is undecided and finals would."""
    reason: str = ""
    """Why there is no effect, or why no number of finals is told: one of ``REASONS``."""
    on_plain: float | None = None
    """Winners side by side: ``on`` less plain."""
    on_plain_half: float | None = None
    balanced: float | None = None
    """The effect on balanced accuracy."""
    balanced_half: float | None = None
    over_nl: float | None = None
    """``on`` less ``nl``: what the term of the complement adds."""
    over_nl_half: float | None = None
    over_any: float | None = None
    """``on`` less ``any``: what pairs of the complement do beyond pairs of any nodes."""
    over_any_half: float | None = None
    above_floor: bool | None = None
    """Whether the side with the penalty beats a constant answer; none where nobody knows."""
    plain_above_floor: bool | None = None
    collapsed: int = 0
    """Finals of its arms that lie far below the median of their arm."""
    finals: int = 0
    """Finals of its arms."""
    at_cap: bool = False
    """Whether the precision of this effect asked for more finals than were allowed."""
    configuration: str = ""
    """A hash of its winner's parameters and the plain one's: equal where they are the same."""

    @property
    def is_identical(self) -> bool:
        """Whether it is equal because no final differs."""
        return self.verdict == "equal" and not self.effect and not self.error

    @property
    def is_half(self) -> bool:
        """Whether the plain winner's half is missing; what is left leans towards the penalty."""
        return self.kept is not None and self.crossed is None

    @property
    def is_contrary(self) -> bool:
        """Whether both halves differ from 0, each in another direction (95 % intervals)."""
        if self.kept_half is None or self.crossed_half is None:
            return False
        kept, crossed = self.kept or 0.0, self.crossed or 0.0
        apart = abs(kept) > self.kept_half and abs(crossed) > self.crossed_half
        return apart and kept * crossed < 0


REASONS = (
    *("arms", "missing", "finals", "files", "nodes", "margin", "spread", "collapsed", "many"),
    *("winner", "half", "floor", "unknown floor"),
)
"""Arms were not trained; no finals yet; too few finals. More finals do not help: splits come in
files, or test nodes are few; an effect near the margin; no spread; collapses; too many needed.
It differs from 0, and yet: the winner lies below the plain one; the plain winner's half is
missing; the side that is ahead beats no constant answer, or nobody knows."""


@stored_as(
    *("method", "question", "graphs", "left_out", "mean", "these_half", "like_these_half"),
    *("one_more_half", "verdict", "p"),
    later=("metric",),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class OverGraphs:
    """The mean of one method's effects over distinct graphs, with three intervals."""

    method: str
    question: str
    """``effect`` or ``gain``."""
    graphs: tuple[str, ...]
    """Twins that count once are joined by ``+``."""
    left_out: tuple[str, ...]
    """Graphs with another budget than the rest."""
    mean: float
    these_half: float | None
    """Over these graphs."""
    like_these_half: float | None
    """Over graphs like these."""
    one_more_half: float | None
    """For one more such graph."""
    verdict: str = ""
    """Of a tuned gain over enough searches."""
    p: float | None = None
    metric: str = "accuracy"
    """What its rows are judged by."""


@stored_as(
    *("graph", "condition", "method", "one", "other", "difference", "half", "protocols"),
    *("verdicts", "same"),
    later=("metric",),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftPart:
    """How far an effect differs between two runs whose splits differ: Welch's interval.

    Only where both are of the same configurations do splits alone make it.
    """

    graph: str
    condition: str
    method: str
    one: float
    other: float
    difference: float
    half: float | None
    protocols: tuple[str, str]
    verdicts: tuple[str, str]
    same: bool
    """Whether both are of the same configurations."""
    metric: str = "accuracy"

    @property
    def regularizer(self) -> str:
        """That of its method, which may be followed by the condition of a column."""
        return self.method.partition("+")[2].partition(" ")[0]
