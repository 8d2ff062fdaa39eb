"""The rows of the store: one frozen record per table, which is also its schema."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, NamedTuple

Int32 = Annotated[int, "int32"]
Int64 = Annotated[int, "int64"]
Json = str
"""JSON text with sorted keys."""

TRIAL_STATES = ("running", "complete", "pruned", "failed")
RUN_STATES = ("running", "paused", "interrupted", "finished", "incomplete")

USED_UP = "no other configuration is left: the space is used up"
"""Note on the last trial of a study that ended before its budget."""

STUDY = ("graph", "method", "condition", "search")
"""Columns that say which study of a run a row belongs to."""


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
    def study(self) -> tuple[str, str, str, int]:
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
    params: Json
    failure: str | None
    """Why it failed: ``diverged``, ``memory``, ``time``, ``error`` or ``lost``."""
    error: str | None
    retries: Int32
    notes: Json
    """Causes of retries, and of finals that failed."""
    started: datetime
    seq: Int64
    """Order of arrival in the run."""


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
    params: Json
    penalty_active: float | None
    penalty_active_com: float | None
    penalty_active_ori: float | None
    started: datetime
    select: str
    threads: Int32
    device: str
    train_nodes: Int32
    val_nodes: Int32
    terms: Json
    facts: Json
    seq: Int64
    test_nodes: Int32 | None = None
    """How many nodes the split keeps for a test; rows of older versions do not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalRow(RepeatRow):
    """One training of a winner; the only row with a test score."""

    test_score: float
    test_nodes: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow(StudyColumns):
    """The manifest of a run; columns of studies hold all of the run's, joined by commas."""

    state: str
    started: datetime
    ended: datetime | None
    seconds: float
    """Time that drivers worked on it; downtime does not count."""
    seed: Int64
    numbers: Int32
    """Version of the numbers: rows of different versions are not comparable."""
    space_text: str
    options: Json
    budget: Json
    graph_hashes: Json
    versions: Json
    machine: Json
    studies: Json = "[]"
    """Graph, condition and method of every planned study."""
    paper: str | None = None
    """The table of the paper that the space reproduces, such as ``III``."""
    drivers: Json = "[]"
    """Versions and machine of later drivers, each with the time since when, where they differ."""
    columns: Json | None = None
    """Keys of conditions that make the columns of its table, if any do."""
    correlate: Json | None = None
    """Which correlation its space is about, as a space file writes it, if it is."""


TABLES: dict[str, type[StudyColumns]] = {
    "runs": RunRow,
    "trials": TrialRow,
    "repeats": RepeatRow,
    "finals": FinalRow,
}


class Environment(NamedTuple):
    """What a driver ran on, and since when."""

    since: datetime
    versions: dict[str, str]
    machine: dict[str, str | int]


def environments(row: RunRow) -> list[Environment]:
    """What the drivers of a run ran on, the first one first."""
    first = Environment(row.started, json.loads(row.versions), json.loads(row.machine))
    later = [
        Environment(datetime.fromisoformat(since), versions, machine)
        for since, versions, machine in json.loads(row.drivers)
    ]
    return [first, *later]
