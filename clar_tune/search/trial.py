"""A trial in the making, and the rows that tell of it and of its trainings."""

from dataclasses import dataclass, field
from datetime import datetime
from statistics import fmean
from typing import Any

from clar_tune.records import Params, to_stored
from clar_tune.rows import FinalRow, RepeatRow, StudyColumns, TrialRow
from clar_tune.search.jobs import Failure, TrainingResult

COPIED = (
    *("metric", "val_score", "val_loss", "epochs", "best_epoch"),
    *("seconds", "penalty_active", "penalty_above", "penalty_zero", "train_nodes", "val_nodes"),
)
"""Columns that a training's record names as the store does."""

OF_FINALS = (
    *("test_score", "test_balanced", "floor", "correct", "tested", "shift"),
    "balanced_floor",
)
"""Columns of finals alone, as their results name them."""

OF_STUDY = (
    *("space", "settings", "graph", "method", "backbone"),
    *("regularizer", "condition", "protocol", "search"),
)
"""Columns that every row of a study has."""


@dataclass(slots=True)
class Trial:
    """One configuration and what came of it so far."""

    trial: int
    params: Params
    started: datetime
    state: str = "running"
    repeats: int = 0
    """How many trainings it had."""
    val_score: float | None = None
    """Mean score of its repeats."""
    val_loss: float | None = None
    """Mean loss of its repeats."""
    seconds: float = 0.0
    failure: Failure | None = None
    retries: int = 0
    notes: list[str] = field(default_factory=list)
    used_up: bool = False
    """Whether its study ended with it, because no other configuration was left."""
    origin: str = "sampler"
    shared_from: str = ""
    unfilled: int = 0
    _scores: list[float] = field(default_factory=list)
    _losses: list[float] = field(default_factory=list)

    @staticmethod
    def of(row: TrialRow) -> "Trial":
        """As stored, but without its repeats and running."""
        failure = None
        if row.failure is not None:
            failure = Failure(index=row.repeats, kind=row.failure, text=row.error or "")
        return Trial(
            trial=row.trial,
            params=row.params,
            started=row.started,
            failure=failure,
            retries=row.retries,
            notes=list(row.notes),
            used_up=row.used_up,
            origin=row.origin,
            shared_from=row.shared_from,
            unfilled=row.unfilled,
        )

    def add(self, score: float, loss: float, seconds: float) -> None:
        """Take in one training."""
        self._scores.append(score)
        self._losses.append(loss)
        self.repeats += 1
        self.val_score, self.val_loss = fmean(self._scores), fmean(self._losses)
        self.seconds += seconds

    def end(self, state: str) -> None:
        """Give it its last state; from then on the means of its repeats are enough."""
        self.state = state
        self._scores, self._losses = [], []


def trial_row(columns: StudyColumns, metric: str, trial: Trial) -> TrialRow:
    """The row of a trial as it stands."""
    return TrialRow(
        **_of_study(columns),
        trial=trial.trial,
        state=trial.state,
        repeats=trial.repeats,
        metric=metric,
        val_score=trial.val_score,
        val_loss=trial.val_loss,
        seconds=trial.seconds,
        params=trial.params,
        failure=trial.failure.kind if trial.failure else None,
        error=trial.failure.text if trial.failure else None,
        retries=trial.retries,
        notes=tuple(trial.notes),
        started=trial.started,
        seq=0,  # given by the store
        used_up=trial.used_up,
        origin=trial.origin,
        shared_from=trial.shared_from,
        unfilled=trial.unfilled,
    )


def training_row(columns: StudyColumns, trial: int, done: TrainingResult) -> RepeatRow | FinalRow:
    """The row of one training; with a test score it is a final."""
    record, spec = done.record, done.spec
    active = {name: term.active for name, term in record.terms.items()}
    values: dict[str, Any] = {
        **_of_study(columns),
        **{name: getattr(record, name) for name in COPIED},
        "trial": trial,
        "key": spec.key,
        "repeat": done.index,
        "split_seed": spec.split_seed,
        "init_seed": spec.init_seed,
        "params": spec.params,
        "penalty_active_com": active.get("com"),
        "penalty_active_ori": active.get("ori"),
        "started": done.started,
        "select": spec.select,
        "stop": spec.stop,
        "threads": spec.threads,
        "device": done.device,
        "engine": spec.engine,
        "cpu": done.cpu,
        "terms": to_stored(record.terms),
        "facts": record.facts,
        "seq": 0,  # given by the store
        "test_nodes": done.test_nodes,
    }
    if done.test_score is None:
        return RepeatRow(**values)
    tested = {name: getattr(done, name) for name in OF_FINALS}
    return FinalRow(**values, **tested, arm=spec.arm)


def _of_study(columns: StudyColumns) -> dict[str, Any]:
    return {name: getattr(columns, name) for name in OF_STUDY}
