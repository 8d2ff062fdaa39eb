"""A comparison as frozen records; scores are in natural units, accuracies as fractions."""

from dataclasses import dataclass

VERDICTS = ("better", "worse", "undecided", "none")
"""``none``: the protocol or the number of finals allows no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table: a graph under a condition, and how its finals were split."""

    graph: str
    condition: str
    protocol: str
    metric: str
    notes: tuple[str, ...]
    """What must be known of the graph: ``leaky``, ``synthetic``, ``fixed split`` …"""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What the finals of one method on one row say."""

    graph: str
    method: str
    condition: str
    mean: float
    half: float | None
    """Half the width of the 95 % interval; none for a single final."""
    units: int
    """Splits, or seeds on fixed splits, that the interval is over."""
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
    half: float | None
    p: float | None
    p_holm: float | None
    detectable: float | None
    """Smallest true gain that one test at 5 % finds with probability 0.8."""
    units: int
    verdict: str
    paper_gain: float | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAcross:
    """Two methods over all distinct graphs: Wilcoxon's signed ranks, corrected by Holm."""

    method: str
    against: str
    p: float
    p_holm: float


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Methods side by side, with everything that belongs below the table."""

    runs: tuple[str, ...]
    space: str
    settings: str
    paper_table: str | None
    """Number of the table of the paper, such as ``III``."""
    methods: tuple[str, ...]
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
