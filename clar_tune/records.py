"""Frozen records: what decides a training, and what comes out of it."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from clar_tune.version import NUMBERS_VERSION

Record = TypeVar("Record")

_STORED: dict[type, Mapping[str, str]] = {}
"""Of each record that leaves the program, the stored name of each field."""

_UNSAID: dict[type, Mapping[str, Any]] = {}
"""Of each such record, the fields that are stored only if they differ from these defaults."""


def stored_as(
    *same: str, later: tuple[str, ...] = (), **other: str
) -> Callable[[type[Record]], type[Record]]:
    """Say under which names the fields of a record are stored and printed.

    Stored names are data: when a field gets another name, its stored one stays, as in
    ``stored_as("trials", replicates="searches")``. A field without a stored name, or a name
    without a field, fails at import. Fields that came ``later`` are not stored at their default:
    what is written of a record that does not use them, and its key, stay as they were.
    """
    names = {**{name: name for name in (*same, *later)}, **other}

    def noted(record: type[Record]) -> type[Record]:
        in_order = [of.name for of in fields(record)]  # type: ignore[arg-type]
        unknown = names.keys() ^ set(in_order)
        if unknown:
            raise TypeError(f"{record.__name__}: either field or stored name: {sorted(unknown)}")
        _STORED[record] = {name: names[name] for name in in_order}
        defaults = {of.name: of.default for of in fields(record)}  # type: ignore[arg-type]
        _UNSAID[record] = {name: defaults[name] for name in later}
        return record

    return noted


def to_stored(value: Any) -> Any:
    """A record, or what holds records, with stored names and in the forms that JSON knows."""
    if type(value) in _STORED:
        unsaid = _UNSAID[type(value)]
        return {
            stored: to_stored(getattr(value, name))
            for name, stored in _STORED[type(value)].items()
            if name not in unsaid or getattr(value, name) != unsaid[name]
        }
    if isinstance(value, Mapping):
        return {key: to_stored(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_stored(item) for item in value]
    return value


def from_stored(record: type[Record], values: Mapping[str, Any]) -> Record:
    """The record of what ``to_stored`` gave; a name that it does not know is a ``TypeError``."""
    fields_of = {stored: name for name, stored in _STORED[record].items()}
    given = {fields_of.get(name, name): value for name, value in dict(values).items()}
    return record(**{n: tuple(v) if isinstance(v, list) else v for n, v in given.items()})


Value = float | int | str | bool | None
"""What a parameter can be."""

Params = Mapping[str, Value]

SELECTIONS = ("loss", "accuracy")
STOPS = ("patience", "released")
OPTIMIZERS = ("adam",)
ENGINES = ("torch", "native")
ENGINE_CHOICES = ("auto", *ENGINES)
"""What may be asked for; which engine ``auto`` is, is decided when a run is planned."""


@stored_as(
    *("graph", "graph_hash", "backbone", "regularizer", "protocol", "split_seed", "init_seed"),
    *("params", "condition", "outer_test", "max_epochs", "patience", "warmup", "select"),
    *("optimizer", "threads"),
    later=("device", "stop", "arm", "beside", "engine"),
)
@dataclass(frozen=True, slots=True)
class TrainSpec:
    """Everything that decides a training's numbers, and nothing else."""

    graph: str
    graph_hash: str
    backbone: str
    regularizer: str
    protocol: str
    split_seed: int
    init_seed: int
    params: Params
    condition: str = ""
    outer_test: float = 0.0
    max_epochs: int = 1000
    patience: int = 100
    warmup: int = 50
    select: str = "loss"
    optimizer: str = "adam"
    threads: int = 1
    device: str = "cpu"
    """``cpu`` or ``cuda``: dropout draws other numbers on another."""
    stop: str = "patience"
    arm: str = "on"
    """What a final is for: the winner as it is, or an arm beside it; its parameters say what."""
    beside: str = ""
    """The method that a plain training is an arm of: those of two methods have two keys, also
    where their winners share all parameters of the backbone."""
    engine: str = "torch"
    """One of ``ENGINES``: each draws its own random numbers."""

    @property
    def method(self) -> str:
        """``gcn`` or ``gcn+clar``."""
        plain = self.regularizer == "none"
        return self.backbone if plain else f"{self.backbone}+{self.regularizer}"

    @property
    def key(self) -> str:
        """Name shared by equal specifications, on every machine and in every run.

        ``params`` count as they stand: ``Method.complete`` gives equal settings one form.
        """
        content = {**to_stored(self), "numbers": NUMBERS_VERSION}
        canonical = json.dumps(content, sort_keys=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyProgress:
    """How far one study is, in numbers; a driver counts them as well as a reader of the store."""

    graph: str
    method: str
    condition: str
    metric: str
    trials: int
    """Trials that it is to have; those that it had, once its space is used up."""
    complete: int
    pruned: int
    failed: int
    running: int
    repeats: int
    """Trainings of its search."""
    repeats_of_ended: int
    """Those of trials that have ended."""
    most_repeats: int
    """Repeats of a trial that is not pruned; 0 where there is nothing to search."""
    pruning: bool
    search_seconds: float
    """Time of its repeats."""
    best: float | None
    """Mean validation score of the winner so far."""
    finals: int
    finals_wanted: int
    final_seconds: float
    """Time of the finals."""
    confirmed: bool
    """Whether its winner has all its finals."""

    @property
    def done(self) -> int:
        """Trials that ended."""
        return self.complete + self.pruned + self.failed


HINTS = frozenset({"diverged", "memory"})
"""Kinds of failures that the parameters are to blame for, so that a sampler avoids them."""


@stored_as("value", "active")
@dataclass(frozen=True, slots=True)
class TermRecord:
    """What one term of a penalty did in a training."""

    value: float
    """Its reduced value before clamp and weight, in the selected epoch."""
    active: float
    """Fraction of epochs in which it had a gradient."""


@stored_as(
    *("key", "metric", "val_score", "val_loss", "epochs", "best_epoch", "seconds"),
    *("train_nodes", "val_nodes", "penalty_active", "round", "terms", "facts"),
    later=("penalty_above", "penalty_zero"),
)
@dataclass(frozen=True, slots=True)
class TrainRecord:
    """What came out of one training. It has no test score, on purpose."""

    key: str
    metric: str
    val_score: float
    val_loss: float
    epochs: int
    best_epoch: int
    seconds: float
    train_nodes: int
    val_nodes: int
    penalty_active: float | None = None
    """Largest fraction of epochs in which a term had a gradient; none without a penalty."""
    round: int = 1
    """Which round of retraining is kept; ``epochs`` and ``seconds`` count all of them."""
    terms: Mapping[str, TermRecord] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    penalty_above: float | None = None
    """Largest fraction of epochs in which a term stood above its clamp, switched off."""
    penalty_zero: float | None = None
    """Largest fraction of epochs in which a term was zero: all outputs were equal."""


class Pace(NamedTuple):
    """What stored trainings of a study took, on average."""

    runs: int
    trainings: int
    selected: float
    """Epochs up to the one that was selected."""
    seconds_per_epoch: float
