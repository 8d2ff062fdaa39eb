"""``clar-tune`` whose driver trains by itself, one training after the other, in its own process.

For tests about rows, leases, disks and buckets, to which workers do not matter: a private Ray
takes several times as long as all else in a small run. The rest is the real program:
`python without_ray.py resume it`.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import ray
import torch

from clar_tune.cli import main
from clar_tune.cluster import driver
from clar_tune.cluster.resources import Node
from clar_tune.graphs import Graph
from clar_tune.search import Job, Outcome, Scheduler, Work, perform
from clar_tune.store import RunWriter
from clar_tune.training import Form, form_of


@contextmanager
def this_process(address: str, *modules: Path) -> Iterator[list[Node]]:
    """A cluster that is this process alone."""
    yield [Node(cpus=1.0, gpus=0.0, name="here", head=True)]


def search(
    scheduler: Scheduler,
    writer: RunWriter,
    graphs: dict[str, Graph],
    capacity: Any,
    scratch: str,
    view: driver.View,
    watch: None,
) -> None:
    """Do everything that the scheduler hands out."""

    @cache
    def form(graph: str, engine: str) -> Form:
        return form_of(graphs[graph], engine)

    def train(job: Job, index: int, ends: float) -> Outcome:
        name = job.spec.graph
        return perform(job, index, graphs[name], form(name, job.spec.engine))

    for ticket in map(str, itertools.count()):
        given = scheduler.assign(ticket)
        if given is None:
            return view.close(scheduler)
        work, goes_on = Work(given), True
        while goes_on:
            goes_on = scheduler.receive(ticket, work.batch(train))
            writer.tick()
            view(scheduler)


if __name__ == "__main__":
    torch.set_num_threads(1)  # as in a worker
    driver._cluster, driver._search, ray.put = this_process, search, lambda graph: graph
    main()
