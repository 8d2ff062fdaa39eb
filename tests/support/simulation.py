"""Runs without Ray, torch or files: the scheduler with workers that only pretend to train."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from clar_tune.cluster.asha import Asha
from clar_tune.records import TrainRecord
from clar_tune.rows import FinalRow, RepeatRow, RepeatScore, TrialRow
from clar_tune.search.assignment import BATCH, Work
from clar_tune.search.jobs import Job, Outcome, TrainingResult
from clar_tune.search.limits import Limits
from clar_tune.search.scheduler import Scheduler
from clar_tune.seeds import seed_for
from clar_tune.space import parse_space
from clar_tune.space.plan import Options, Plan, make_plan

SPACE = """
description: two graphs, a method with nothing to search, one that is searched
graphs: [csbm-homophily, csbm-heterophily]
methods: [gcn, gcn+clar]
protocol: balanced-60-20-20
search: {trials: 10, repeats: 9}
finals: 3
settings:
  tuned:
    shared: {hidden: 8}
    regularizers:
      clar:
        alpha: {choices: [0, 0.1, 1]}
        beta: {low: 0.001, high: 1, log: true}
        reduction: {choices: [node-mean, trace]}
        clamp: {choices: [1, null], when: {reduction: trace}}
"""


ARMS = 2 * (1 + 5)
"""Arms of all winners of ``SPACE``: gcn has one, gcn+clar five, on both graphs."""


def plan_from(text: str = SPACE, **options: Any) -> Plan:
    return make_plan(parse_space(text, "simulated", "simulated.yaml"), Options(**options))


def hashes_of(plan: Plan) -> dict[str, str]:
    """Nobody looks at the graphs of a simulated run."""
    return dict.fromkeys(plan.graphs, "0" * 16)


def pretend(job: Job, index: int) -> Outcome:
    """A score that depends on the configuration, and a little on the repeat."""
    params = dict(sorted(job.spec.params.items()))
    draw = random.Random(seed_for("quality", str(params), job.spec.graph, job.spec.method))
    noise = random.Random(seed_for("noise", job.purpose, index, job.spec.graph)).gauss(0, 0.02)
    return trained(job, index, min(max(draw.random() + noise, 0.0), 1.0))


def trained(job: Job, index: int, score: float, seconds: float = 1.0) -> TrainingResult:
    spec = job.spec_of(index)
    record = TrainRecord(
        key=spec.key,
        metric="accuracy",
        val_score=score,
        val_loss=1 - score,
        epochs=10,
        best_epoch=5,
        seconds=seconds,
        train_nodes=6,
        val_nodes=2,
    )
    final = {"test_score": score, "test_nodes": 2} if job.purpose == "final" else {}
    return TrainingResult(
        index=index, spec=spec, record=record, started=datetime.now(UTC), device="cpu", **final
    )


@dataclass
class Memory:
    """A store that keeps rows in lists."""

    trials: dict[tuple[Any, ...], TrialRow] = field(default_factory=dict)
    repeats: list[RepeatRow] = field(default_factory=list)
    finals: list[FinalRow] = field(default_factory=list)

    def append(self, rows: Sequence[TrialRow | RepeatRow | FinalRow]) -> None:
        for row in rows:
            if isinstance(row, FinalRow):
                self.finals.append(row)
            elif isinstance(row, RepeatRow):
                self.repeats.append(row)
            else:
                self.trials[row.graph, row.method, row.condition, row.search, row.trial] = row

    def of(self, graph: str, method: str) -> list[TrialRow]:
        return [r for r in self.trials.values() if (r.graph, r.method) == (graph, method)]

    def scores(self) -> list[RepeatScore]:
        """Its repeats as a store gives them to those who decide."""
        names = RepeatScore._fields
        return [RepeatScore(*(getattr(row, name) for name in names)) for row in self.repeats]

    def numbers(self) -> Any:
        """All that must not depend on when a run was cut off."""
        trials = {
            name: (row.state, row.repeats, row.val_score, row.params)
            for name, row in self.trials.items()
        }
        keys = sorted((row.key, row.val_score) for row in [*self.repeats, *self.finals])
        return trials, keys


def scheduler_for(plan: Plan, memory: Memory, **limits: Any) -> Scheduler:
    scheduler = Scheduler(plan, hashes_of(plan), memory.append, Asha, Limits(**limits))
    if memory.trials:
        scheduler.restore(
            list(memory.trials.values()),
            memory.scores(),
            memory.finals,
        )
    return scheduler


def next_job(scheduler: Scheduler, ticket: str) -> Job | None:
    """The next assignment, if there is one, of which there is only one job."""
    given = scheduler.assign(ticket)
    if given is None:
        return None
    (job,) = given.jobs
    return job


def singly() -> Callable[[], float]:
    """A worker's clock by which each training is a batch."""
    return map(float, itertools.count(0, BATCH)).__next__


def work(
    scheduler: Scheduler,
    train: Callable[[Job, int], Outcome] = pretend,
    *,
    events: int | None = None,
    order: random.Random | None = None,
    clock: Callable[[], float] | None = None,
) -> int:
    """Let pretended workers do all jobs, or stop dead after some events; returns their number.

    An event is an assignment that is handed out, or a batch that comes back; ``clock`` is that of
    the workers, which decides how much there is in a batch.
    """
    tickets = map(str, itertools.count())
    busy: dict[str, Work] = {}
    count = 0
    while events is None or count < events:
        count += 1
        if len(busy) < scheduler.limits.workers:
            ticket = next(tickets)
            given = scheduler.assign(ticket)
            if given is not None:
                busy[ticket] = Work(given, clock or singly())
                continue
            if not busy:
                return count
        ticket = order.choice(sorted(busy)) if order else next(iter(busy))
        work = busy.pop(ticket)
        if scheduler.receive(ticket, work.batch(lambda job, index, _: train(job, index))):
            busy[ticket] = work
    return count


def searched_only(plan: Plan) -> Plan:
    return replace(plan, studies=tuple(study for study in plan.studies if study.has_search))
