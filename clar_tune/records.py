"""Frozen records: what decides a training, and what comes out of it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from clar_tune.version import NUMBERS_VERSION

Value = float | int | str | bool | None
"""What a parameter can be."""

Params = Mapping[str, Value]

SELECTIONS = ("loss", "accuracy")
OPTIMIZERS = ("adam",)


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
        content = {**asdict(self), "numbers": NUMBERS_VERSION}
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


@dataclass(frozen=True, slots=True)
class TermRecord:
    """What one term of a penalty did in a training."""

    value: float
    """Its reduced value before clamp and weight, in the selected epoch."""
    active: float
    """Fraction of epochs in which it had a gradient."""


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
