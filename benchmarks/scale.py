"""What a hundred thousand trials cost the driver: its processor, its memory, its store.

A thousand studies, made by conditions on ten graphs, go through the real searcher, scheduler, Ray
actors and store. Trials have one repeat. Only the training inside a worker is a stub, which makes
up a score from the configuration at once. One generated graph stands for all graphs, so that no
data is needed.

    python -m benchmarks.scale --folder scale
    python -m benchmarks.scale --studies 100 --trials 30

With a folder the run can be interrupted (Ctrl-C, or --hours), and the same command goes on.
"""

import json
import math
import random
import resource
import signal
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.memory import megabytes

GRAPHS = 10
"""Graphs are served one after the other: each is a tenth of the trials, with the cheap first
proposals of its studies and the dear last ones."""
WARM_UP = 10
"""Trials that are not counted: workers start one after the other."""
RUN = "scale"

SPACE = """
description: many studies of one method
graphs: [{graphs}]
methods: [gcn+clar]
protocol: balanced-60-20-20
conditions: [{{sweep: {{scale: [{scales}]}}}}]
search: {{trials: 100, repeats: 1, sampler: tpe}}
finals: 1
settings:
  tuned:
    shared:
      lr: {{low: 0.001, high: 0.1, log: true}}
      weight_decay: {{choices: [0, 5e-5, 5e-4, 5e-3]}}
      dropout: {{choices: [0, 0.2, 0.4, 0.6, 0.8]}}
    regularizers:
      clar:
        alpha: {{choices: [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]}}
        beta: {{choices: [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]}}
        samples: {{choices: [1, 2]}}
        sampling: {{choices: [node, edge]}}
        reduction: {{choices: [node-mean, trace, released]}}
        clamp: {{choices: [1, 10, null]}}
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    studies: int
    trials: int
    finals: int
    seconds: float
    """From the first trial to the last."""
    cpu: float
    """Milliseconds of the driver's processor per trial, its children apart."""
    first_cpu: float
    """The same in the first tenth of the trials."""
    last_cpu: float
    """The same in the last tenth."""
    driver_mb: float
    """Peak memory of the driver's process."""
    store_mb: float
    files: int

    @property
    def cpu_ratio(self) -> float:
        """How much more a trial occupies the driver in the end."""
        return self.last_cpu / self.first_cpu


@click.command()
@click.option("--studies", default=1000, show_default=True, type=click.IntRange(GRAPHS))
@click.option("--trials", default=100, show_default=True, type=click.IntRange(12))
@click.option("--hours", default=2.0, show_default=True, help="Pause after so long.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where the store is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(studies: int, trials: int, hours: float, folder: Path | None, as_json: bool) -> None:
    """Run a search whose trainings take no time."""
    with tempfile.TemporaryDirectory() as scratch:
        figures = measure(folder or Path(scratch), studies, trials, hours)
    if figures is None:
        print("paused; the same command goes on")
        return
    if as_json:
        print(json.dumps({**asdict(figures), "cpu_ratio": figures.cpu_ratio}))
        return
    print(f"studies, trials, finals    {figures.studies}, {figures.trials}, {figures.finals}")
    print(f"from first trial to last   {figures.seconds:.0f} s")
    print(f"driver's processor         {figures.cpu:.2f} ms per trial")
    print(f"  first tenth              {figures.first_cpu:.2f} ms")
    print(f"  last tenth               {figures.last_cpu:.2f} ms, {figures.cpu_ratio:.2f} x")
    print(f"driver, peak memory        {figures.driver_mb:.0f} MB")
    print(f"store                      {figures.store_mb:.1f} MB in {figures.files} files")


def measure(folder: Path, studies: int, trials: int, hours: float = 2.0) -> Figures | None:
    """Run the search into a store, or go on with it; none if it is not finished."""
    from clar_tune.cluster import Launch, drive, prepare
    from clar_tune.search import manifest_of
    from clar_tune.store import Store

    plan, graphs = planned(studies, trials)
    store, row = Store.open(folder / "store"), manifest_of(plan, graphs)
    begun = any(run.name == RUN for run in store.runs())
    prepare("local")
    install_stub()
    launch = Launch()
    limits = launch.limits()
    meter = Meter(folder / "readings.json", limits, hours)

    def drained(*_: Any) -> None:
        limits.draining = True

    before = signal.signal(signal.SIGINT, drained)
    try:
        scheduler = drive(
            store,
            lambda: store.reopen(RUN) if begun else store.create(RUN, row),
            plan,
            graphs,
            launch,
            meter,
            limits,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    if scheduler.state != "finished":
        assert scheduler.state == "interrupted", scheduler.state
        return None
    asked, finals = studies * trials, len(finals_of(scheduler))
    assert len(store.table("trials", RUN, ["trial"])) == asked
    files = [path for path in (folder / "store").rglob("*") if path.is_file()]
    tenth = (asked + finals) // GRAPHS
    return Figures(
        studies=len(plan.studies),
        trials=asked,
        finals=finals,
        seconds=meter.seconds,
        cpu=meter.per_training(WARM_UP, asked + finals) * (asked + finals) / asked,
        first_cpu=meter.per_training(WARM_UP, tenth) * (asked + finals) / asked,
        last_cpu=meter.per_training(asked + finals - tenth, asked + finals)
        * (asked + finals)
        / asked,
        driver_mb=max(megabytes("VmHWM"), meter.peak_mb),
        store_mb=sum(path.stat().st_size for path in files) / 1e6,
        files=len(files),
    )


def planned(studies: int, trials: int) -> tuple[Any, dict[str, Any]]:
    """One method under as many conditions as it takes; every graph has the content of one."""
    from clar_tune.graphs import load
    from clar_tune.space import Options, load_space, make_plan, parse_space

    graphs = load_space("all").graphs[:GRAPHS]
    scales = ", ".join(str(number) for number in range(1, studies // GRAPHS + 1))
    text = SPACE.format(graphs=", ".join(graphs), scales=scales)
    plan = make_plan(parse_space(text, RUN, "scale.yaml"), Options(trials=trials, ablation=False))
    content = load("csbm-homophily")
    return plan, {name: replace(content, name=name) for name in plan.graphs}


def finals_of(scheduler: Any) -> list[Any]:
    """Seconds of every final of every study."""
    return [seconds for study in scheduler.studies for seconds in study.finals.seconds]


class Meter:
    """A view that shows nothing, and reads how much processor time the driver has taken.

    Readings outlive a driver: those of one that goes on are added to those before it.
    """

    def __init__(self, file: Path, limits: Any, hours: float) -> None:
        self._file, self._limits, self._ends = file, limits, time.monotonic() + 3600 * hours
        kept = json.loads(file.read_text()) if file.exists() else {}
        self.peak_mb = kept.get("peak_mb", 0.0)
        self._before = kept.get("seconds", 0.0)
        self._readings: list[tuple[int, float]] = [tuple(pair) for pair in kept.get("cpu", [])]
        self._spent = self._readings[-1][1] if self._readings else 0.0
        self._began: tuple[float, float] | None = None

    @property
    def seconds(self) -> float:
        """Time that drivers worked on it."""
        return self._before + (time.monotonic() - self._began[0] if self._began else 0.0)

    def __call__(self, scheduler: Any) -> None:
        """Read how far a run is, and what it took."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu = used.ru_utime + used.ru_stime
        if self._began is None:
            self._began = time.monotonic(), cpu
        done = sum(study.trainings for study in scheduler.studies)
        if not self._readings or done > self._readings[-1][0]:
            self._readings.append((done, self._spent + cpu - self._began[1]))
        if time.monotonic() > self._ends:
            self._limits.draining = True

    def close(self, scheduler: Any) -> None:
        """The last reading."""
        self(scheduler)
        self.peak_mb = max(self.peak_mb, megabytes("VmHWM"))
        kept = {"peak_mb": self.peak_mb, "seconds": self.seconds, "cpu": self._readings}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(kept))

    def say(self, text: str) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""

    def per_training(self, first: int, last: int) -> float:
        """Milliseconds per training between two numbers of trainings."""
        (begun, before), (ended, after) = (
            next(reading for reading in self._readings if reading[0] >= wanted)
            for wanted in (first, last)
        )
        return 1000 * (after - before) / (ended - begun)


def install_stub() -> None:
    """Let workers of this process make scores up; all else in them stays as it is."""
    from clar_tune.cluster import tuner, worker

    class Worker(worker.Worker):
        def setup(self, config: dict[str, Any], **given: Any) -> None:
            from clar_tune.search import jobs

            jobs.trained = made_up
            super().setup(config, **given)

    tuner.Worker = Worker


def made_up(
    spec: Any, purpose: str, index: int, graph: Any, form: Any, seconds: float = math.inf
) -> Any:
    """A training that takes no time; its score depends on the configuration and the splits."""
    from clar_tune.records import TrainRecord
    from clar_tune.search import TrainingResult
    from clar_tune.seeds import seed_for

    of = (spec.graph, spec.backbone, spec.regularizer)
    quality = random.Random(seed_for("quality", json.dumps(spec.params, sort_keys=True), *of))
    noise = random.Random(seed_for("noise", spec.split_seed, *of))
    score = min(max(quality.random() + noise.gauss(0, 0.02), 0.0), 1.0)
    record = TrainRecord(
        key=spec.key,
        metric="accuracy",
        val_score=score,
        val_loss=1 - score,
        epochs=200,
        best_epoch=100,
        seconds=0.001,
        train_nodes=600,
        val_nodes=200,
    )
    final = {"test_score": score, "test_nodes": 200} if purpose == "final" else {}
    return TrainingResult(
        index=index, spec=spec, record=record, started=datetime.now(UTC), device="cpu", **final
    )


if __name__ == "__main__":
    main()
