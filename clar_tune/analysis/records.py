"""A comparison as frozen records; scores are in natural units, accuracies as fractions."""

from dataclasses import dataclass

from clar_tune.records import stored_as

VERDICTS = ("better", "worse", "undecided", "none")
"""``none``: no verdict is allowed; a contrast says why."""
REASONS = ("protocol", "spaces", "finals", "searches", "spread")
"""Why there is no verdict: the protocol allows none, the methods come from spaces that give them
other ranges, too few finals, too few repeated searches, or gains without any spread."""

CHAMPION = "clar"
"""The regularizer that is compared with every rival too."""


@stored_as(
    *("graph", "condition", "protocol", "metric", "notes", "train_nodes", "val_nodes"),
    "test_nodes",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: a graph under a condition, and how its finals were split.

    The condition is the part that makes rows; the part that makes columns stands in the names
    of methods, such as ``gcn+clar clamp=10`` (see ``layout``).
    """

    graph: str
    condition: str
    protocol: str
    metric: str
    notes: tuple[str, ...]
    """What must be known of the graph: ``leaky``, ``synthetic``, ``fixed split`` …"""
    train_nodes: int = 0
    val_nodes: int = 0
    test_nodes: int = 0
    """Nodes that train, validate and test a final; where splits differ, on average."""


@stored_as("asked", "trials", "failed", "repeats", "finals", "seconds")
@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a method was given and what it took."""

    asked: int
    """Trials asked for."""
    trials: int
    failed: int
    repeats: int
    """Trainings of the search."""
    finals: int
    seconds: float


@stored_as(
    *("graph", "method", "condition", "mean", "units", "searches", "search_spread"),
    *("paper", "best", "budget", "penalty_active", "weightless", "full", "used_up"),
    *("without_complement", "remote_share"),
    half_width="half",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What the finals of one method on one row say."""

    graph: str
    method: str
    condition: str
    mean: float
    half_width: float | None
    """Half the width of the 95 % interval; none for a single unit, or without any spread."""
    units: int
    """What the interval is over: splits, seeds on fixed splits, or repeated searches."""
    searches: int
    search_spread: float | None
    """Standard deviation of the means of repeated searches."""
    paper: float | None
    """What the paper prints for it."""
    best: bool
    """Whether no method of the row has a better mean."""
    budget: Budget
    penalty_active: float | None
    """Mean fraction of epochs in which the penalty had a gradient."""
    weightless: bool
    """Whether every winner gave its penalty the weight 0."""
    full: bool
    """Whether every winner had all the repeats asked for."""
    used_up: bool
    """Whether a search ended early because no configuration was left."""
    without_complement: bool = False
    """Whether every winner of clar gave its complement the weight 0, which makes it nl."""
    remote_share: float | None = None
    """Share of all pairs of nodes that madreg takes for remote."""


@stored_as(
    *("graph", "condition", "method", "against", "rival", "gain", "p", "p_holm"),
    *("detectable", "units", "verdict", "paper_gain", "ratio", "paper_ratio", "reason"),
    half_width="half",
    ratio_half_width="ratio_half",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One planned comparison of two methods on one row; a positive gain is an improvement."""

    graph: str
    condition: str
    method: str
    against: str
    rival: bool
    """Whether ``against`` is another regularizer rather than the plain backbone."""
    gain: float
    half_width: float | None
    p: float | None
    p_holm: float | None
    detectable: float | None
    """Smallest true gain that is found with probability 0.8 at the first step of Holm's
    correction, whose level is 0.05 / family."""
    units: int
    """Pairs of splits, of seeds on fixed splits, or of repeated searches."""
    verdict: str
    paper_gain: float | None
    ratio: float | None = None
    """For errors, the mean error as a part of that of ``against``: below 1 is an improvement."""
    ratio_half_width: float | None = None
    """``half_width`` as a part of the same."""
    paper_ratio: float | None = None
    reason: str = ""
    """Why there is no verdict, one of ``REASONS``; empty if there is one."""


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


@stored_as(
    *("method", "rows", "bests", "wins", "ties", "losses", "better", "worse", "rank"),
    "budget",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One method over all rows."""

    method: str
    rows: int
    bests: int
    wins: int
    ties: int
    losses: int
    """Rows with a higher, an equal (as printed) and a lower mean than the plain backbone."""
    better: int
    worse: int
    """Rows with such a verdict."""
    rank: float | None
    """Average rank over the rows that all methods have; 1 is best."""
    budget: Budget


@stored_as("method", "against", "p", "p_holm", "ahead")
@dataclass(frozen=True, slots=True, kw_only=True)
class PairAcross:
    """Two methods over all distinct graphs: Wilcoxon's signed ranks, corrected by Holm."""

    method: str
    against: str
    p: float
    p_holm: float
    ahead: str = ""
    """Which of both the signed ranks speak for; empty if for neither."""


@stored_as("graphs", "methods", "ranks", "friedman", "planned", "pairs", "cliques", "reason")
@dataclass(frozen=True, slots=True, kw_only=True)
class Across:
    """Methods over distinct graphs; tests only with enough of them."""

    graphs: tuple[str, ...]
    """Distinct graphs; twins that count once are joined by ``+``."""
    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    """Average rank of each method over these graphs."""
    friedman: float | None
    """p of Friedman's test in the form of Iman and Davenport."""
    planned: tuple[PairAcross, ...]
    """Each regularizer with its backbone, clar with each rival; corrected among themselves."""
    pairs: tuple[PairAcross, ...]
    """All pairs of methods, for the diagram of ranks."""
    cliques: tuple[tuple[str, ...], ...]
    """Methods, in order of rank, none of whose pairs differ significantly."""
    reason: str
    """Why there is no test; empty if there is one."""


@stored_as(
    *("runs", "space", "settings", "paper_table", "methods", "rows", "scores", "contrasts"),
    *("family", "standings", "across", "caption", "conclusions", "columns", "unit"),
    "correlations",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Methods side by side, with everything that belongs below the table."""

    runs: tuple[str, ...]
    space: str
    settings: str
    paper_table: str | None
    """Number of the table of the paper, such as ``III``, if any of its numbers stand here."""
    methods: tuple[str, ...]
    """Names of the columns: a method, and after a space the part of its condition that makes
    columns, if any."""
    rows: tuple[Row, ...]
    scores: tuple[Score, ...]
    contrasts: tuple[Contrast, ...]
    family: int
    """How many comparisons were planned: Holm's correction counts them all."""
    standings: tuple[Standing, ...]
    across: Across
    caption: tuple[str, ...]
    """How to read the numbers, one sentence each."""
    conclusions: tuple[str, ...]
    """What can and what cannot be concluded, one sentence each."""
    columns: tuple[str, ...] = ()
    """Keys of conditions that make columns; all others make rows."""
    unit: str = "final"
    """What intervals and tests count: ``final``, or ``search`` where searches were repeated."""
    correlations: tuple[Correlation, ...] = ()

    def score(self, row: Row, method: str) -> Score | None:
        """The score of a method on a row."""
        place = row.graph, row.condition, method
        found = (s for s in self.scores if (s.graph, s.condition, s.method) == place)
        return next(found, None)

    def contrast(self, row: Row, method: str) -> Contrast | None:
        """The comparison of a method with its plain backbone on a row."""
        place = row.graph, row.condition, method, False
        found = (c for c in self.contrasts if (c.graph, c.condition, c.method, c.rival) == place)
        return next(found, None)
