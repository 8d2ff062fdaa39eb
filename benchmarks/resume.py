"""What it takes a driver to go on with a run of many trials: its processor and its memory.

The store is written row by row through the writer, as a driver writes it, without Ray: studies as
in `benchmarks.scale`, each half done. Then a process of its own restores the run and asks every
study for its next trial, as no study's sampler hears of its trials before.

    python -m benchmarks.resume
    python -m benchmarks.resume --trials 10000 --repeats 3
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from benchmarks.memory import megabytes
from benchmarks.scale import RUN, planned

STUDIES = 1000


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured."""

    trials: int
    repeats: int
    imports: float
    """Seconds of the processor until all modules are loaded."""
    restored: float
    """Seconds of the processor to open and restore the run."""
    asked: float
    """Seconds of the processor to ask every study for a trial."""
    driver_mb: float
    """Peak memory."""


@click.command()
@click.option("--trials", default=50_000, show_default=True, type=click.IntRange(STUDIES))
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(1))
@click.option("--restore", type=click.Path(path_type=Path), help="A store that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def main(trials: int, repeats: int, restore: Path | None, as_json: bool) -> None:
    """Write a store, restore it in another process, and print what that took."""
    if restore is not None:
        print(json.dumps(asdict(restored(restore, trials, repeats))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "store"
        write(folder, trials, repeats)
        command = [sys.executable, "-m", "benchmarks.resume", "--restore", str(folder)]
        command += ["--trials", str(trials), "--repeats", str(repeats)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    if as_json:
        print(done.stdout, end="")
        return
    found = Figures(**json.loads(done.stdout))
    print(f"trials, repeats             {found.trials}, {found.repeats}")
    print(f"processor: loading modules  {found.imports:.1f} s")
    print(f"  opening and restoring     {found.restored:.1f} s")
    print(f"  a trial of every study    {found.asked:.1f} s")
    print(f"peak memory                 {found.driver_mb:.0f} MB")


def write(folder: Path, trials: int, repeats: int) -> None:
    """A run that was interrupted when half of its trials had ended, each row written by itself."""
    from clar_tune.search import manifest_of
    from clar_tune.store import Store

    plan, graphs = _plan(trials)
    writer = Store.open(folder).create(RUN, manifest_of(plan, graphs))
    draw = random.Random(0)
    for number in range(trials // STUDIES):
        for study in plan.studies:
            for row in _rows(study, number, repeats, draw):
                writer.append([row])
    writer.close(state="interrupted")


def _rows(study: Any, number: int, repeats: int, draw: random.Random) -> Any:
    """The rows of one trial: its repeats, and how it ended."""
    from clar_tune.rows import RepeatRow, TrialRow
    from clar_tune.search.trial import OF_STUDY

    columns = {name: getattr(study.columns, name) for name in OF_STUDY}
    params = study.method.complete(
        study.parameters.at([draw.random() for _ in study.parameters.searched])
    )
    shared = {
        **columns,
        "trial": number,
        "metric": "accuracy",
        "params": params,
        "started": datetime.now(UTC),
        "seq": 0,
    }
    scores = [draw.random() for _ in range(repeats)]
    for repeat, score in enumerate(scores):
        yield RepeatRow(
            **shared,
            key=f"{draw.getrandbits(64):016x}",
            repeat=repeat,
            split_seed=repeat,
            init_seed=repeat,
            val_score=score,
            val_loss=1 - score,
            epochs=200,
            best_epoch=100,
            seconds=0.001,
            penalty_active=None,
            penalty_active_com=None,
            penalty_active_ori=None,
            select="loss",
            threads=1,
            device="cpu",
            train_nodes=600,
            val_nodes=200,
            terms={},
            facts={},
        )
    mean = sum(scores) / repeats
    yield TrialRow(
        **shared,
        state="complete",
        repeats=repeats,
        val_score=mean,
        val_loss=1 - mean,
        seconds=0.001 * repeats,
        failure=None,
        error=None,
        retries=0,
        notes=(),
    )


def restored(folder: Path, trials: int, repeats: int) -> Figures:
    """Restore the run in this process, and ask every study once."""
    from clar_tune.cluster.asha import Asha
    from clar_tune.search import Limits, Scheduler
    from clar_tune.store import Store

    plan, graphs = _plan(trials)
    hashes = {name: graph.hash for name, graph in graphs.items()}
    loaded = _cpu()
    store = Store.open(folder)
    writer = store.reopen(RUN)
    scheduler = Scheduler(plan, hashes, writer.append, Asha, Limits())
    scheduler.restore(store.trials(RUN), store.repeat_scores(RUN), store.finals(RUN))
    assert sum(len(study.trials) for study in scheduler.studies) == trials
    known = _cpu()
    for study in scheduler.studies:
        assert study.ask() is not None
    figures = Figures(
        trials=trials,
        repeats=sum(study.trainings for study in scheduler.studies),
        imports=loaded,
        restored=known - loaded,
        asked=_cpu() - known,
        driver_mb=megabytes("VmHWM"),
    )
    writer.close(state="interrupted")
    return figures


def _plan(trials: int) -> tuple[Any, dict[str, Any]]:
    """Twice as many trials as are stored."""
    return planned(STUDIES, 2 * trials // STUDIES)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
