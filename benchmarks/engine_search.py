"""Whole searches by both engines: CPU seconds of their trainings, in turn, in one process.

Configurations come from the same space and seed, as do splits; each side prunes by its own scores.
The time of a training is that of a worker from its specification to its row, without compiling.

python -m benchmarks.engine_search --graphs texas,cora --methods gcn,gat+clar
"""

import itertools
import json
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import click

from clar_tune.cluster.asha import Asha
from clar_tune.engine import TARGET
from clar_tune.graphs import Graph
from clar_tune.search import Job, Outcome, Scheduler, Work, perform
from clar_tune.space import Options, load_space, make_plan
from clar_tune.training import form_of, make_ready, warm_up

ENGINES = ("torch", "native")
METHODS = ("gcn", "gat", "sage", "cheby", "gpr", "gcn+nl", "gcn+preg", "gcn+madreg")
METHODS += ("gcn+dropedge", "gcn+clar", "gat+clar", "sage+clar")


class Side:
    """A search by one engine."""

    def __init__(self, space: str, options: dict, engine: str, graphs: dict[str, Graph]) -> None:
        plan = make_plan(load_space(space), Options(engine=engine, **options))
        self.graphs, self.forms, self.rows = graphs, dict[tuple, object](), 0
        hashes = {name: graph.hash for name, graph in graphs.items()}
        self.scheduler = Scheduler(plan, hashes, self._write, Asha)
        self.spent: dict[tuple[str, str], float] = defaultdict(float)
        self.told: dict[tuple[str, str], float] = defaultdict(float)
        self.epochs: dict[tuple[str, str], int] = defaultdict(int)
        self.tickets = map(str, itertools.count())
        for study in plan.studies:
            study = study.spec(study.method.complete({}), "repeat", 0, "")
            make_ready(study)

    def _write(self, rows: object) -> None:
        pass

    def step(self) -> bool:
        """Do one assignment; false if none is left."""
        ticket = next(self.tickets)
        given = self.scheduler.assign(ticket)
        if given is None:
            return False
        work, goes_on = Work(given), True
        while goes_on:
            goes_on = self.scheduler.receive(ticket, work.batch(self._train))
        return True

    def _train(self, job: Job, index: int, ends: float) -> Outcome:
        graph, place = self.graphs[job.spec.graph], (job.spec.graph, job.spec.engine)
        if place not in self.forms:
            self.forms[place] = form_of(graph, job.spec.engine)
        began = time.process_time()
        outcome = perform(job, index, graph, self.forms[place])
        self._count(job.spec.graph, job.spec.method, time.process_time() - began, outcome)
        return outcome

    def _count(self, graph: str, method: str, seconds: float, outcome: Outcome) -> None:
        self.spent[graph, method] += seconds
        self.rows += 1
        record = getattr(outcome, "record", None)
        if record is not None:
            self.told[graph, method] += record.seconds
            self.epochs[graph, method] += record.epochs


@click.command()
@click.option("--space", default="all", show_default=True)
@click.option("--graphs", default="texas,cornell,cora,chameleon", show_default=True)
@click.option("--methods", default=",".join(METHODS), show_default=True)
@click.option("--trials", default=8, show_default=True)
@click.option("--repeats", default=3, show_default=True)
@click.option("--finals", default=5, show_default=True)
@click.option("--out", default="benchmarks/results/engine_search.json", type=Path)
def main(
    space: str, graphs: str, methods: str, trials: int, repeats: int, finals: int, out: Path
) -> None:
    """Search with both engines."""
    import torch

    from clar_tune.graphs import load

    torch.set_num_threads(1)
    warm_up()
    budget = {"trials": trials, "repeats": repeats, "finals": finals}
    preprocessing = load_space(space).preprocessing
    loaded = {name: load(name, preprocessing) for name in graphs.split(",")}
    chosen = {"graphs": tuple(loaded), "methods": tuple(methods.split(","))}
    sides = {engine: Side(space, {**budget, **chosen}, engine, loaded) for engine in ENGINES}
    waiting = list(sides.values())
    while waiting:
        waiting = [side for side in waiting if side.step()]
    rows = _table(sides)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"target": TARGET, "budget": budget, "rows": rows}, indent=1))


def _table(sides: dict[str, Side]) -> list[dict[str, object]]:
    theirs, ours = sides["torch"], sides["native"]
    rows: list[dict[str, object]] = []
    print(f"target {TARGET}; CPU seconds of all trainings, and the ratio of an epoch's")
    print(
        f"{'graph':<11}{'method':<10}{'torch':>9}{'native':>9}{'ratio':>8}{'epochs':>8}"
        f"{'epochs':>8}{'per epoch':>11}"
    )

    def show(graph: str, method: str, total: Callable[[dict], float]) -> None:
        spent = [total(side.spent) for side in (theirs, ours)]
        epochs = [total(side.epochs) for side in (theirs, ours)]
        ratio, each = spent[0] / spent[1], spent[0] / epochs[0] / (spent[1] / epochs[1])
        print(
            f"{graph:<11}{method:<10}{spent[0]:>9.2f}{spent[1]:>9.2f}{ratio:>7.1f}x"
            f"{epochs[0]:>8}{epochs[1]:>8}{each:>10.1f}x"
        )
        row = {"graph": graph, "method": method, "torch": spent[0], "native": spent[1]}
        rows.append({**row, "epochs": epochs, "ratio": ratio, "per_epoch": each})

    for place in theirs.spent:
        show(*place, lambda found, place=place: found[place])
    show("all", "", lambda found: sum(found.values()))
    print(f"trainings: {theirs.rows} by torch, {ours.rows} natively")
    for name, side in sides.items():
        told, spent = sum(side.told.values()), sum(side.spent.values())
        print(f"{name}: the trainings themselves took {told:.2f} s of {spent:.2f} s")
    return rows


if __name__ == "__main__":
    main()
