"""A comparison as frozen records; scores are in natural units, accuracies as fractions."""

from dataclasses import dataclass

from clar_tune.analysis.correlation_records import Correlation as Correlation, Point as Point
from clar_tune.analysis.effect_records import BASELINE, SPLITS, OverGraphs, PenaltyEffect
from clar_tune.graphs import PROTOCOLS
from clar_tune.records import stored_as

REASONS = ("spaces", "search", "searches")
"""Why winners side by side get no verdict: they come from spaces that give them other ranges, from
one search each, or from too few repeated searches."""

MUCH_SHIFT = 0.1
"""Class shares that differ by more make accuracy an answer to another question."""

CHAMPION = "clar"
"""The regularizer that is compared with every rival too."""


@stored_as(
    *("graph", "condition", "protocol", "metric", "notes", "train_nodes", "val_nodes"),
    *("test_nodes", "floor", "shift", "balanced_floor"),
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
    floor: float | None = None
    """What a constant answer scores on the test nodes; rows of older versions do not tell."""
    shift: float | None = None
    """Total variation between the class shares of training and test nodes, on average."""
    balanced_floor: float | None = None
    """What a constant answer has for balanced accuracy; rows of older versions do not tell."""

    @property
    def is_shifted(self) -> bool:
        """Whether its protocol gives test nodes other class shares than training nodes.

        Sets that are drawn uniformly differ by chance: on texas, with 37 test nodes, by 0.12 in
        the mean of 2,000 draws.
        """
        chance = PROTOCOLS[self.protocol].uniform
        return self.shift is not None and self.shift > MUCH_SHIFT and not chance


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
    *("without_complement", "remote_share", "balanced", "balanced_half", "above_floor"),
    *("collapsed", "penalty_above", "penalty_zero"),
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
    balanced: float | None = None
    """Mean balanced accuracy: recall over the classes among the test nodes."""
    balanced_half: float | None = None
    above_floor: bool | None = None
    """Whether it beats a constant answer; none where nobody knows."""
    collapsed: int = 0
    """Finals more than 25 points below their median."""
    penalty_above: float | None = None
    """Mean fraction of epochs in which a term stood above its clamp, switched off."""
    penalty_zero: float | None = None
    """Mean fraction of epochs in which a term was zero: all outputs were equal."""


@stored_as(
    *("graph", "condition", "method", "against", "rival", "gain", "p", "p_holm"),
    *("detectable", "units", "verdict", "paper_gain", "ratio", "paper_ratio", "reason"),
    half_width="half",
    ratio_half_width="ratio_half",
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two winners side by side on one row; a positive gain is an improvement.

    What the search found, and luck in it, is in the gain too: with one search it is a description.
    """

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
    *("correlations", "headline", "effects", "backbones", "over_graphs", "remarks"),
    *("margin", "interval", "scope", "baseline", "looks"),
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
    """What can and what cannot be concluded: the sentences that matter most, a few."""
    columns: tuple[str, ...] = ()
    """Keys of conditions that make columns; all others make rows."""
    unit: str = "final"
    """What intervals and tests count: ``final``, or ``search`` where searches were repeated."""
    correlations: tuple[Correlation, ...] = ()
    headline: str = ""
    """The answer, in one line."""
    effects: tuple[PenaltyEffect, ...] = ()
    """What each penalty does, one for every planned cell; none where no arms were trained."""
    backbones: tuple[Contrast, ...] = ()
    """Plain winners against that of the baseline."""
    over_graphs: tuple[OverGraphs, ...] = ()
    remarks: tuple[str, ...] = ()
    """What else is to be known, one sentence each."""
    margin: float = 0.01
    interval: str = SPLITS
    scope: str = SPLITS
    """Which scope verdicts are of."""
    baseline: str = BASELINE
    looks: int = 0
    """How often finals were added after verdicts could be read."""

    @property
    def is_searched(self) -> bool:
        """Whether any of its configurations were searched."""
        return any(score.budget.repeats for score in self.scores)

    def effect(self, row: Row, method: str) -> PenaltyEffect | None:
        """The effect of a method's penalty on a row."""
        place = row.graph, row.condition, method
        found = (e for e in self.effects if (e.graph, e.condition, e.method) == place)
        return next(found, None)

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
