"""``clar-tune`` as its users start it: a process with a folder, a store and a cache of its own."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from clar_tune.store import Store

CLAR_TUNE = Path(sys.executable).with_name("clar-tune")
WITHOUT_RAY = (sys.executable, "-P", Path(__file__).with_name("without_ray.py"))
"""The same, except that the driver trains by itself: where workers do not matter."""
FRESH_TUNERS = (sys.executable, "-P", Path(__file__).with_name("fresh_tuners.py"))
"""The same, except that no Tuner has more than a few trials."""
PATIENCE = 300.0
"""Seconds for anything that takes a tenth of it on a machine with nothing else to do."""

SPACE = """\
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
protocol: balanced-60-20-20
training: {max_epochs: 12, patience: 12, warmup: 1}
search: {trials: 9, repeats: 3}
finals: 3
settings:
  tuned:
    shared:
      hidden: 8
      lr: {low: 0.001, high: 0.3, log: true}
      dropout: {choices: [0, 0.3, 0.6]}
    regularizers: {clar: {alpha: {choices: [0, 0.1, 1]}, reduction: node-mean}}
"""

PACED = """\
graphs: [csbm-homophily]
methods: ["own_models:Paced"]
protocol: balanced-60-20-20
training: {max_epochs: 3, patience: 3, warmup: 1}
search: {trials: 6, repeats: 3}
finals: 3
settings: {tuned: {shared: {lr: {low: 0.001, high: 0.3, log: true}}}}
"""

ONE = ("--seed", "2", "--max-concurrent", "1")
"""Options of the shared run."""

MEASURED = ("seconds", "started", "seq")
"""Columns that differ between two runs that are otherwise the same."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


class Place:
    """A folder with a space, a module of models, a store and a cache."""

    def __init__(self, folder: Path, space: str = SPACE) -> None:
        self.folder, self.store = folder, Store.open(folder / "store")
        self.program: tuple[str | Path, ...] = (CLAR_TUNE,)
        self._numbers = itertools.count()
        folder.mkdir(exist_ok=True)
        (folder / "space.yaml").write_text(space)
        shutil.copy(Path(__file__).with_name("own_models.py"), folder)

    def pace(self, seconds: float | None, edges: str = "*") -> None:
        """How long every pass of ``Paced`` takes from now on, perhaps on one graph only."""
        file = self.folder / "pace.txt"
        if seconds is None:
            file.unlink()
        else:
            file.with_suffix(".new").write_text(f"{edges} {seconds}")
            file.with_suffix(".new").rename(file)

    def _command(self, *words: str) -> list[str | Path]:
        return [*self.program, *words]

    @contextmanager
    def started(self, *words: str) -> Iterator["Going"]:
        """A command at work; it is ended with the block if it has not ended by itself."""
        number = next(self._numbers)
        out, err = (self.folder / f"{name}-{number}.txt" for name in ("stdout", "stderr"))
        with out.open("w") as stdout, err.open("w") as stderr:
            process = subprocess.Popen(
                self._command(*words),
                cwd=self.folder,
                env=self._environment(),
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        try:
            yield Going(process, out, err)
        finally:
            process.kill()
            process.wait()

    def run(self, *words: str) -> Done:
        """A command from its start to its end."""
        with self.started(*words) as going:
            return going.end()

    def search(self, *words: str) -> Done:
        """``clar-tune run`` in this space."""
        return self.run("run", "--space", "space.yaml", *words)

    def shown(self, run: str) -> dict[str, Any]:
        """What ``show`` knows about a run."""
        done = self.run("show", run, "--json")
        assert done.code == 0, done.err
        shown: dict[str, Any] = json.loads(done.out)
        return shown

    def trials(self, run: str) -> list[dict[str, Any]]:
        rows = self.store.table("trials", run).to_pylist()
        return sorted(rows, key=lambda row: (row["graph"], row["method"], row["trial"]))

    def repeats(self, run: str) -> list[dict[str, Any]]:
        return self.store.table("repeats", run).to_pylist()

    def finals(self, run: str) -> list[dict[str, Any]]:
        return self.store.table("finals", run).to_pylist()

    def trainings(self, run: str) -> dict[str, dict[str, Any]]:
        """Repeats and finals by key; a key that occurs twice fails."""
        rows = [*self.repeats(run), *self.finals(run)]
        found = {row["key"]: row for row in rows}
        assert len(found) == len(rows)
        return found

    def log(self, run: str) -> str:
        return (self.folder / "cache" / "clar-tune" / "logs" / f"{run}.log").read_text()

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "CLAR_TUNE_"))}
        # Tune's own table is asked for: noise that must not reach what a command prints.
        noise = {"RAY_AIR_NEW_OUTPUT": "1"}
        ours = {"XDG_CACHE_HOME": str(self.folder / "cache"), "CLAR_TUNE_STORE": "store"}
        return {**kept, **noise, **ours}


@dataclass(frozen=True, slots=True)
class Going:
    """A command that was started."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    def wait_for(self, moment: Callable[[], object], what: str) -> None:
        """Return when something has happened; fail if the command ends before, or in vain."""
        until = time.monotonic() + PATIENCE
        while not moment():
            assert self.process.poll() is None, f"ended before {what}: {self.err.read_text()}"
            assert time.monotonic() < until, f"waited in vain for {what}"
            time.sleep(0.1)

    def tree(self) -> list[psutil.Process]:
        """The process and all that it, or one of these, has started."""
        driver = psutil.Process(self.process.pid)
        return [driver, *driver.children(recursive=True)]

    def workers(self) -> list[psutil.Process]:
        """Actors at work."""
        return [
            process
            for process in self.tree()
            if _command(process).startswith("ray::ResourceTrainable")
        ]

    def kill(self) -> list[psutil.Process]:
        """SIGKILL; returns what is left of all its processes after some seconds."""
        tree = self.tree()
        self.process.kill()
        self.process.wait()
        return left_of(tree)

    def end(self) -> Done:
        """Wait for the end."""
        code = self.process.wait(PATIENCE)
        return Done(code, self.out.read_text(), self.err.read_text())


def left_of(processes: list[psutil.Process], seconds: float = 20.0) -> list[psutil.Process]:
    """Which processes are still there after a while; one that only waits to be counted is not."""
    until = time.monotonic() + seconds
    left = processes
    while left and time.monotonic() < until:
        time.sleep(0.1)
        left = [process for process in left if _runs(process)]
    return left


def comparable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in a fixed order, without what depends on the clock."""
    kept = [{k: v for k, v in row.items() if k not in MEASURED} for row in rows]
    return sorted(kept, key=lambda row: (row["graph"], row["method"], row["trial"], _index(row)))


def assert_exact(place: Place, run: str, trials: int, repeats: int, finals: int) -> None:
    """Budgets are exact, nothing is doubled, repeats of a trial are 0, 1, 2 … in order."""
    studies: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in place.trials(run):
        studies.setdefault((row["graph"], row["method"]), []).append(row)
    by_trial: dict[tuple[str, str, int], list[int]] = {}
    for row in place.repeats(run):
        by_trial.setdefault((row["graph"], row["method"], row["trial"]), []).append(row["repeat"])
    by_arm: dict[tuple[str, str, str], list[int]] = {}
    for row in place.finals(run):
        by_arm.setdefault((row["graph"], row["method"], row["arm"]), []).append(row["repeat"])
    assert {(graph, method) for graph, method, arm in by_arm if arm == "on"} == studies.keys()
    assert all(sorted(found) == list(range(finals)) for found in by_arm.values())
    place.trainings(run)
    for study, rows in studies.items():
        assert [row["trial"] for row in rows] == list(range(trials))
        assert {row["state"] for row in rows} <= {"complete", "pruned", "failed"}
        for row in rows:
            assert by_trial.get((*study, row["trial"]), []) == list(range(row["repeats"]))
            assert (row["repeats"] == repeats) == (row["state"] == "complete")


@cache
def finished(base: Path) -> Place:
    """A run ``one`` of ``SPACE``, one trial at a time; several tests share it, to read only."""
    place = Place(base / "finished")
    done = place.search("--name", "one", *ONE)
    assert done.code == 0, done.err
    (place.folder / "one.out").write_text(done.out)
    (place.folder / "one.err").write_text(done.err)
    return place


def copy_of(place: Place, folder: Path) -> Place:
    """Another folder with the same content."""
    shutil.copytree(place.folder, folder, dirs_exist_ok=True)
    return Place(folder, (place.folder / "space.yaml").read_text())


def _index(row: dict[str, Any]) -> tuple[str, int]:
    return str(row.get("arm", "")), int(row.get("repeat", 0))


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has just ended
        return ""


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
