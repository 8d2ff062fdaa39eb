"""One training by a compiled program: specification and arrays in, record out."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clar_tune.engine.arrays import ArrayGraph, Floats
from clar_tune.engine.checks import check_training
from clar_tune.engine.facts import facts_of
from clar_tune.engine.problem import (
    EPOCH,
    FINISHED,
    FIRST_TERM,
    LOSS,
    SCORE,
    STOP,
    STOPPED,
    TRAIN_LOSS,
    VAL_LOSS,
    Outcome,
)
from clar_tune.engine.programs import program_of
from clar_tune.engine.regularizers import WITH_PENALTY
from clar_tune.engine.task import Prepared, Task, task_of, team_of
from clar_tune.engine.teams import gather, turn
from clar_tune.errors import Diverged, Stopped
from clar_tune.graphs import SearchNodes
from clar_tune.records import TermRecord, TrainRecord, TrainSpec

Report = Callable[[int, float, float], None]
"""Called now and then with the epoch, its validation loss and the best score so far."""

LOOKS = 0.05
"""Seconds between two looks at a running program."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A finished training: its record, and what the selected epoch had learned."""

    record: TrainRecord
    weights: Mapping[str, Floats]  # by the names that torch gives them
    logits: Floats  # [N, C] in evaluation mode; numbers in regression


def train(
    spec: TrainSpec,
    graph: ArrayGraph,
    nodes: SearchNodes,
    report: Report | None = None,
    *,
    weights: Mapping[str, NDArray[Any]] | None = None,
    seconds: float = math.inf,
) -> Fit:
    """Train one configuration on one split, as ``clar_tune.training.train`` does.

    Outputs are as they were learned, also where ``prior`` or ``seen`` corrects them later, and a
    score is the accuracy where that of the graph is the ROC AUC.

    The program runs in a thread of its own, so that an interrupt or the end of ``seconds`` acts
    after the epoch in which it comes. What is compiled for it is not part of that time.

    Args:
        spec: what decides the training.
        graph: its graph.
        nodes: those to train and to validate.
        report: told of the progress.
        weights: those to start from, by torch's names; absent, they are drawn.
        seconds: how long it may take.
    """
    check_training(spec, graph, nodes)
    team = team_of(spec, graph)
    call = program_of(spec.backbone, team.size)
    with turn(team):
        started = time.perf_counter()
        prepared = task_of(spec, graph, nodes, weights)
        outcome = _Run(prepared.task, call).watched(report, started + seconds)
    _refuse(spec, prepared.terms, outcome)
    learned = prepared.layout.unpacked(prepared.task.best)
    facts = {**facts_of(spec.backbone, learned), **prepared.facts}
    record = _record(spec, graph, prepared, outcome, facts, time.perf_counter() - started)
    return Fit(record, learned, prepared.outputs())


class _Run:
    """A program in a thread, and what it gives back."""

    def __init__(self, task: Task, call: Callable[..., Outcome]) -> None:
        self.task, self.call = task, call
        self.result: Outcome | BaseException | None = None

    def watched(self, report: Report | None, end: float) -> Outcome:
        """Wait for the result; let the program stop if we are interrupted or the time is over."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        progress, told = self.task.progress, 0
        try:
            running = True
            while running:
                thread.join(LOOKS)
                running = thread.is_alive()
                epoch = int(progress[EPOCH])
                if report and epoch > told:
                    told = epoch
                    report(epoch, float(progress[LOSS]), float(progress[SCORE]))
                if time.perf_counter() > end:
                    progress[STOP] = 1.0
        finally:
            progress[STOP] = 1.0
            thread.join()
        if not isinstance(self.result, tuple):
            assert isinstance(self.result, BaseException)
            raise self.result
        return self.result

    def _run(self) -> None:
        try:
            gather(self.task.work.team)
            self.result = self.call(*self.task)
        except BaseException as error:
            self.result = error


def _refuse(spec: TrainSpec, terms: tuple[str, ...], outcome: Outcome) -> None:
    """Raise what the torch path would, in the same words."""
    if outcome.failed == FINISHED:
        return
    if outcome.failed == STOPPED:
        raise Stopped(f"{spec.method} on {spec.graph} was stopped after epoch {outcome.epochs}.")
    names = {TRAIN_LOSS: "training loss", VAL_LOSS: "validation loss"}
    for number, name in enumerate(terms):
        names[FIRST_TERM + number] = f"penalty {name}"
    raise Diverged(
        f"{names[outcome.failed]} became {outcome.value} in epoch {outcome.epochs} of "
        f"{spec.backbone} with {spec.regularizer} on {spec.graph}. Lower the learning rate or the "
        "penalty's weights."
    )


def _exact(score: float, metric: str, nodes: int) -> float:
    """An accuracy as the quotient that torch has; compiled, it may be off by its last digit."""
    return round(score * nodes) / nodes if metric == "accuracy" else score


def _record(
    spec: TrainSpec,
    graph: ArrayGraph,
    prepared: Prepared,
    outcome: Outcome,
    facts: Mapping[str, float],
    seconds: float,
) -> TrainRecord:
    penalty, data = prepared.task.penalty, prepared.task.data
    terms = {
        name: TermRecord(float(penalty.best[place]), int(penalty.active[place]) / outcome.epochs)
        for place, name in enumerate(prepared.terms)
    }

    def share(counts: NDArray[np.int64]) -> float | None:
        """The fraction of epochs of the term that has the largest one; none without a penalty."""
        penalised = spec.regularizer in WITH_PENALTY
        return int(counts.max(initial=0)) / outcome.epochs if penalised else None

    return TrainRecord(
        key=spec.key,
        metric=graph.metric,
        val_score=_exact(outcome.val_score, graph.metric, len(data.val)),
        val_loss=outcome.val_loss,
        epochs=outcome.epochs,
        best_epoch=outcome.best_epoch,
        seconds=seconds,
        train_nodes=len(data.train),
        val_nodes=len(data.val),
        penalty_active=share(penalty.active),
        penalty_above=share(penalty.above),
        penalty_zero=share(penalty.zero),
        terms=terms,
        facts=facts,
    )
