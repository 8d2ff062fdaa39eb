"""A finished run whose trainings are real, made in this process: without Ray, in a second."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from support.results import NOON, stored
from support.simulation import Memory, plan_from, work

from clar_tune.cluster.asha import Asha
from clar_tune.graphs import Graph, apply_variants, load
from clar_tune.search.jobs import Job, Outcome, perform
from clar_tune.search.limits import Limits
from clar_tune.search.manifest import manifest_of
from clar_tune.search.scheduler import Scheduler
from clar_tune.store import Store
from clar_tune.training import form_of

SPACE = """
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
conditions: [{sweep: {drop_edges: [0, 0.3]}}]
training: {max_epochs: 9, patience: 9, warmup: 1, select: accuracy}
search: {trials: 2, repeats: 1, sampler: random}
finals: 2
ablation: false
settings:
  tuned:
    protocol: random-60-20-20
    shared: {hidden: 8, dropout: 0.5, lr: {low: 0.01, high: 0.1, log: true}}
    regularizers: {clar: {alpha: 0.1, beta: 0.1, reduction: node-mean}}
"""


def run_in(folder: Path, text: str = SPACE, name: str = "small", **options: Any) -> Store:
    """A store with a run of a space."""
    plan, memory = plan_from(text, **options), Memory()
    graphs = {graph: load(graph, plan.settings.preprocessing) for graph in plan.graphs}
    hashes = {graph: found.hash for graph, found in graphs.items()}
    scheduler = Scheduler(plan, hashes, memory.append, Asha, Limits())

    def train(job: Job, index: int) -> Outcome:
        graph: Graph = apply_variants(graphs[job.spec.graph], job.variant, job.seed)
        return perform(job, index, graph, form_of(graph, job.spec.engine))

    work(scheduler, train)
    assert scheduler.state == "finished"
    row = replace(manifest_of(plan, graphs), state=scheduler.state, started=NOON, ended=NOON)
    return stored(folder, row, memory, name)
