"""What ten thousand trials cost the driver: its memory, its time per trial, its store.

Studies of the space `all`, a hundred by default, go through the real searcher, scheduler, Ray
actors and store. Only the training inside a worker is a stub, which makes up a score from the
configuration at once. One generated graph stands for all graphs, so that no data is needed.

    python -m benchmarks.scale
    python -m benchmarks.scale --trials 30
"""

import json
import random
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.memory import megabytes

SHARE = 10
"""The first and the last of so many parts are compared."""
WARM_UP = 10
"""Trials that are not timed: workers start one after the other."""
METHODS = 10
"""Studies per graph: graphs are served one after the other, and of a hundred studies each is
a part, with the cheap first proposals of its studies and the dear last ones."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    studies: int
    trials: int
    trainings: int
    seconds: float
    """From the first trial to the last."""
    first: float
    """Milliseconds per trial in the first part of the trials."""
    last: float
    """The same in the last part."""
    first_cpu: float
    """Milliseconds of the driver's processor time per trial in the first part of the trials."""
    last_cpu: float
    """The same in the last part: unlike the time that passes, it knows no other programs."""
    driver_mb: float
    """Peak memory of the driver's process."""
    store_mb: float
    files: int

    @property
    def ratio(self) -> float:
        """How much longer a trial takes in the end."""
        return self.last / self.first

    @property
    def cpu_ratio(self) -> float:
        """How much more a trial occupies the driver in the end."""
        return self.last_cpu / self.first_cpu


@click.command()
@click.option("--studies", default=100, show_default=True, type=click.IntRange(METHODS, 120))
@click.option("--trials", default=100, show_default=True, type=click.IntRange(12))
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1))
@click.option("--folder", type=click.Path(path_type=Path), help="Where the store lies.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(studies: int, trials: int, repeats: int, folder: Path | None, as_json: bool) -> None:
    """Run a search whose trainings take no time."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        figures = measure(Path(scratch) / "store", studies, trials, repeats)
    if as_json:
        ratios = {"ratio": figures.ratio, "cpu_ratio": figures.cpu_ratio}
        print(json.dumps({**asdict(figures), **ratios}))
        return
    print(f"studies, trials, trainings  {figures.studies}, {figures.trials}, {figures.trainings}")
    print(f"from first trial to last    {figures.seconds:.0f} s")
    print(f"per trial, first tenth      {figures.first:.1f} ms")
    print(f"per trial, last tenth       {figures.last:.1f} ms, {figures.ratio:.2f} x")
    print(f"driver's processor, first   {figures.first_cpu:.1f} ms")
    print(f"driver's processor, last    {figures.last_cpu:.1f} ms, {figures.cpu_ratio:.2f} x")
    print(f"driver, peak memory         {figures.driver_mb:.0f} MB")
    print(f"store                       {figures.store_mb:.1f} MB in {figures.files} files")


def measure(folder: Path, studies: int, trials: int, repeats: int) -> Figures:
    """Run the search into a store, and read from its rows how it went."""
    from clar_tune.cluster import Launch, drive, prepare
    from clar_tune.search import manifest_of
    from clar_tune.store import Store

    plan, graphs = planned(studies, trials, repeats)
    store, row = Store.open(folder), manifest_of(plan, graphs)
    prepare("local")
    install_stub()
    meter, launch = Meter(), Launch()
    scheduler = drive(
        store, lambda: store.create("scale", row), plan, graphs, launch, meter, launch.limits()
    )
    assert scheduler.state == "finished", scheduler.state
    begun = beginnings(store)
    files = [path for path in folder.rglob("*") if path.is_file()]
    part = len(begun) // SHARE
    return Figures(
        studies=len(plan.studies),
        trials=len(begun),
        trainings=sum(study.trainings for study in scheduler.studies),
        seconds=begun[-1] - begun[0],
        first=1000 * (begun[part] - begun[WARM_UP]) / (part - WARM_UP),
        last=1000 * (begun[-1] - begun[-1 - part]) / part,
        first_cpu=meter.per_trial(WARM_UP, part),
        last_cpu=meter.per_trial(len(begun) - part, len(begun)),
        driver_mb=megabytes("VmHWM"),
        store_mb=sum(path.stat().st_size for path in files) / 1e6,
        files=len(files),
    )


def planned(studies: int, trials: int, repeats: int) -> tuple[Any, dict[str, Any]]:
    """Ten methods on as many graphs as it takes; every graph has the content of one."""
    from clar_tune.graphs import load
    from clar_tune.space import Options, load_space, make_plan

    space = load_space("all")
    options = Options(
        graphs=space.graphs[: studies // METHODS],
        methods=tuple(method.name for method in space.methods[-METHODS:]),
        trials=trials,
        repeats=repeats,
        finals=3,
    )
    plan, content = make_plan(space, options), load("csbm-homophily")
    return plan, {name: replace(content, name=name) for name in plan.graphs}


def beginnings(store: Any) -> list[float]:
    """When the first training of every trial began, in order."""
    table = store.table("repeats", "scale", ["repeat", "started"])
    rows = zip(table["repeat"].to_pylist(), table["started"].to_pylist(), strict=True)
    return sorted(started.timestamp() for repeat, started in rows if repeat == 0)


class Meter:
    """A view that shows nothing, and reads how much processor time the driver has taken."""

    def __init__(self) -> None:
        self._readings: list[tuple[int, float]] = []

    def __call__(self, scheduler: Any) -> None:
        """Read how far a run is, and what it took."""
        begun = sum(len(study.trials) for study in scheduler.studies)
        self._readings.append((begun, time.process_time()))

    def close(self, scheduler: Any) -> None:
        """The last reading."""
        self(scheduler)

    def say(self, text: str) -> None:
        """Nothing."""

    def per_trial(self, first: int, last: int) -> float:
        """Milliseconds per trial between two numbers of trials."""
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


def made_up(spec: Any, purpose: str, index: int, graph: Any, tensors: Any) -> Any:
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
