"""The rows of the store: one frozen record per table, which is also its schema.

A record holds values, not texts: columns marked as JSON are text in the store alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, NamedTuple

from clar_tune.records import Params, from_stored, stored_as
from clar_tune.version import FIRST_WITH_ARMS

JSON = "json"
"""Marks a column that is stored as JSON text, its keys in the order in which they are given."""
SORTED_JSON = "json with sorted keys"
"""Marks a column that is stored as JSON text with sorted keys."""

Int32 = Annotated[int, "int32"]
Int64 = Annotated[int, "int64"]
Texts = Annotated[Sequence[str], JSON]
Content = Annotated[Mapping[str, Any], SORTED_JSON]

TRIAL_STATES = ("running", "complete", "pruned", "failed")
RUN_STATES = ("running", "paused", "interrupted", "finished", "incomplete")

ORIGINS = ("known", "start-up", "sampler", "exchange")
"""A point that every method begins with, one of a start-up that methods share, the sampler's own
proposal, or the shared parameters of another method of the same backbone."""

USED_UP = "no other configuration is left: the space is used up"
"""How people are told of ``TrialRow.used_up``; older rows say it in their notes alone."""

StudyKey = tuple[str, str, str, int]
"""Which study of a run a row belongs to: graph, method, condition, number of the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyColumns:
    """What every row of a study says about it; the run's name stands in the path."""

    space: str
    settings: str
    graph: str
    method: str
    backbone: str
    regularizer: str
    condition: str
    protocol: str
    search: Int32
    """Number of the search, from 0: ``--searches 3`` repeats each study with other seeds."""

    @property
    def study(self) -> StudyKey:
        """Which study of a run the row belongs to."""
        return self.graph, self.method, self.condition, self.search


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow(StudyColumns):
    """One configuration. It has no test score, on purpose."""

    trial: Int32
    state: str
    repeats: Int32
    metric: str
    val_score: float | None
    val_loss: float | None
    seconds: float
    params: Annotated[Params, SORTED_JSON]
    failure: str | None
    """Why it failed: ``diverged``, ``memory``, ``time``, ``error`` or ``lost``."""
    error: str | None
    retries: Int32
    notes: Texts
    """Causes of retries, and of finals that failed."""
    started: datetime
    seq: Int64
    """Order of arrival in the run."""
    used_up: bool = False
    """Whether its study ended with it, before its budget: no other configuration was left."""
    origin: str = "sampler"
    """Where its configuration comes from: one of ``ORIGINS``."""
    shared_from: str = ""
    """Of an exchanged one, whose shared parameters it tries: ``gcn+nl, trial 3``."""
    unfilled: Int32 = 0
    """How many trials its study went without after it: the exchange had no other point."""

    @property
    def remarks(self) -> list[str]:
        """All that people should know besides its state."""
        short = f"the exchange had no other point: {self.unfilled} trials fewer than asked for"
        used_up, unfilled = [USED_UP] * self.used_up, [short] * bool(self.unfilled)
        return [*self.notes, *used_up, *unfilled]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatRow(StudyColumns):
    """One training of the search. It has no test score, on purpose."""

    trial: Int32
    key: str
    repeat: Int32
    split_seed: Int64
    init_seed: Int64
    metric: str
    val_score: float
    val_loss: float
    epochs: Int32
    best_epoch: Int32
    seconds: float
    params: Annotated[Params, SORTED_JSON]
    penalty_active: float | None
    penalty_active_com: float | None
    penalty_active_ori: float | None
    started: datetime
    select: str
    threads: Int32
    device: str
    train_nodes: Int32
    val_nodes: Int32
    terms: Annotated[Mapping[str, Mapping[str, float]], SORTED_JSON]
    """By term of the penalty: its ``value`` in the selected epoch, ``active`` epochs."""
    facts: Annotated[Mapping[str, float], SORTED_JSON]
    seq: Int64
    test_nodes: Int32 | None = None
    """How many nodes the split keeps for a test; rows of older versions do not tell."""
    stop: str = "patience"
    """When it ended: one of ``STOPS``."""
    penalty_above: float | None = None
    """Fraction of epochs in which a term stood above its clamp, without a gradient."""
    penalty_zero: float | None = None
    """Fraction of epochs in which a term was zero: all outputs were equal."""
    engine: str = "torch"
    """What trained it: one of ``ENGINES``."""
    cpu: str | None = None
    """The processor that the native engine was compiled for; torch tells none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalRow(RepeatRow):
    """One training of a winner; the only row with test scores. Older rows have but the first."""

    test_score: float
    test_nodes: Int32
    arm: str = "on"
    """The winner as it is, or what it is compared with on the same splits: ``off``, ``cross`` …"""
    test_balanced: float | None = None
    """Mean recall over the classes among the test nodes; none where no classes are learned."""
    floor: float | None = None
    """What a constant answer scores on the same test nodes."""
    correct: bytes | None = None
    """Which test nodes, in ascending order, were answered rightly: packed bits, the first node
    in the highest bit. None where a score is no share of nodes."""
    tested: bytes | None = None
    """Which of all nodes are test nodes, packed alike: whose answers ``correct`` tells of."""
    shift: float | None = None
    """Total variation between the class shares of training and of test nodes."""
    balanced_floor: float | None = None
    """What a constant answer has for balanced accuracy: 1 / classes among the test nodes."""


class RepeatScore(NamedTuple):
    """What decisions need of a repeat: there are millions of them, too many to hold whole."""

    graph: str
    method: str
    condition: str
    search: int
    trial: int
    repeat: int
    val_score: float
    val_loss: float
    seconds: float

    @property
    def study(self) -> StudyKey:
        """Which study of a run the row belongs to."""
        return self.graph, self.method, self.condition, self.search


@stored_as(
    *("graph", "method", "condition", "protocol", "metric"),
    *("trials", "repeats", "finals", "rungs", "parameters"),
    later=("arms", "exchanged", "precision", "engine", "known"),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStudy:
    """What a manifest says of one study; all of its searches are alike."""

    graph: str
    method: str
    condition: str
    protocol: str
    metric: str
    trials: int
    """Trials of its search; 1 where there is nothing to search."""
    repeats: int
    """Most repeats of a trial; 0 where there is nothing to search."""
    finals: int
    rungs: tuple[int, ...]
    """Numbers of repeats at which trials are judged; none without pruning."""
    parameters: Mapping[str, Mapping[str, Any]] | None
    """What it chooses from, as ``ParameterSet.stored`` writes it; none where nobody knows."""
    arms: tuple[str, ...] = ()
    """Arms that its finals have beside ``on``, as far as its winner allows."""
    exchanged: int = 0
    """How many of its last trials try what other methods of its backbone found."""
    precision: Mapping[str, float] | None = None
    """``half_width``, ``at_least`` and ``at_most`` of Stein's rule, if that decides the number of
    finals; ``finals`` is then the least."""
    engine: str = "torch"
    """What trains it: one of ``ENGINES``, decided once."""
    known: Mapping[str, Any] | None = None
    """Weights that its search begins with where papers have others on its graph than usual; none
    in older runs, which begin with the usual ones everywhere."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Graph, condition and method."""
        return self.graph, self.condition, self.method


def rungs_up_to(repeats: int, reduction: int) -> tuple[int, ...]:
    """1, r, r², … repeats, and the last one."""
    rungs, power = list[int](), 1
    while power < repeats:
        rungs.append(power)
        power *= max(reduction, 2)  # a manifest may say anything
    return (*rungs, repeats)


@stored_as("notes", "counts_as", "generated")
@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFacts:
    """What a manifest says of a graph, so that readers need neither its file nor a catalogue."""

    notes: tuple[str, ...]
    """What must be known of it: ``leaky``, ``synthetic`` …"""
    counts_as: str
    """The graph that it stands for in tests across graphs, itself or a twin."""
    generated: bool


@stored_as("host", "node", "since", "cause")
@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A machine that broke one worker after the other, and got no more jobs of a driver."""

    host: str
    node: str
    """What Ray called it."""
    since: str
    """When that was decided, in ISO 8601."""
    cause: str
    """Of the last worker that was lost there, or why none was started."""

    def __str__(self) -> str:
        return (
            f"{self.host} (node {self.node[:8]}) is left out since {self.since}: workers "
            f"cannot train there: {self.cause}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """The manifest of a run."""

    space: str
    settings: str
    graph: str
    """Graphs of the run, joined by commas; so are the five columns that follow."""
    method: str
    backbone: str
    regularizer: str
    condition: str
    protocol: str
    search: Int32
    """How often each study is searched, with other seeds."""
    state: str
    started: datetime
    ended: datetime | None
    seconds: float
    """Time that drivers worked on it; downtime does not count."""
    seed: Int64
    numbers: Int32
    """Version of the numbers: rows of different versions are not comparable."""
    space_text: str
    options: Content
    budget: Content
    graph_hashes: Annotated[Mapping[str, str], JSON]
    versions: Annotated[Mapping[str, str], SORTED_JSON]
    machine: Annotated[Mapping[str, str | int], SORTED_JSON]
    studies: Annotated[Sequence[Sequence[str]], JSON] = ()
    """Graph, condition and method of every planned study."""
    paper: str | None = None
    """The table of the paper that the space reproduces, such as ``III``."""
    drivers: Annotated[Sequence[Sequence[Any]], JSON] = ()
    """Versions and machine of later drivers, each with the time since when, where they differ."""
    columns: Texts | None = None
    """Keys of conditions that make the columns of its table, if any do."""
    correlate: Annotated[Mapping[str, Any], JSON] | None = None
    """Which correlation its space is about, as a space file writes it, if it is."""
    study_plans: Annotated[Sequence[Mapping[str, Any]], JSON] = ()
    """Every planned study, as ``PlannedStudy`` is stored; older manifests have none."""
    graph_facts: Annotated[Mapping[str, Mapping[str, Any]], JSON] = field(default_factory=dict)
    """Every graph by its name, as ``GraphFacts`` are stored."""
    workers: Int32 | None = None
    """How many trainings its driver has under way at once, at most."""
    left_out: Annotated[Sequence[Mapping[str, Any]], JSON] = ()
    """Machines that its drivers gave no more jobs, as ``LeftOut`` is stored."""
    margin: float = 0.01
    """Effects smaller than this count as none: the margin of its tests of equality."""
    looks: Int32 = 0
    """How often finals were added after verdicts could be read."""

    @property
    def may_have_effects(self) -> bool:
        """Whether its version of the numbers had arms, floors and shift to judge effects by."""
        return self.numbers >= FIRST_WITH_ARMS

    @property
    def planned(self) -> list[PlannedStudy]:
        """Every planned study."""
        return [from_stored(PlannedStudy, content) for content in self.study_plans]

    @property
    def broken_hosts(self) -> list[LeftOut]:
        """Machines that its drivers gave no more jobs."""
        return [from_stored(LeftOut, content) for content in self.left_out]

    @property
    def graphs(self) -> dict[str, GraphFacts]:
        """What must be known of each graph, by its name."""
        return {name: from_stored(GraphFacts, own) for name, own in self.graph_facts.items()}


Row = RunRow | TrialRow | RepeatRow | FinalRow

TABLES: dict[str, type[Row]] = {
    "runs": RunRow,
    "trials": TrialRow,
    "repeats": RepeatRow,
    "finals": FinalRow,
}


class Environment(NamedTuple):
    """What a driver ran on, and since when."""

    since: datetime
    versions: Mapping[str, str]
    machine: Mapping[str, str | int]


def environments(row: RunRow) -> list[Environment]:
    """What the drivers of a run ran on, the first one first."""
    first = Environment(row.started, row.versions, row.machine)
    later = [
        Environment(datetime.fromisoformat(since), versions, machine)
        for since, versions, machine in row.drivers
    ]
    return [first, *later]
