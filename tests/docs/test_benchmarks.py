"""Every measurement of docs/BENCHMARKS.md runs by the command that stands there, cut short."""

import os
import re
import subprocess
import sys

import pytest
from support.pages import ROOT, fenced

COMMANDS = fenced("docs/BENCHMARKS.md")
SCALE = "python -m benchmarks.scale"
RESUME = "python -m benchmarks.resume"
SOAK = "python -m benchmarks.soak"
ENGINES = "python -m benchmarks.engines"
SEARCHES = "python -m benchmarks.engine_search"
MATHEMATICS = "python -m benchmarks.equivalence mathematics"
STREAMS = "python -m benchmarks.equivalence streams"
STEPS = "python -m benchmarks.equivalence steps"
ACCURACY = "python -m benchmarks.equivalence accuracy"
ATTENTION = "python -m benchmarks.attention"
THREADS = "python -m benchmarks.threads"
SHORT = {
    THREADS: "--graphs texas --trainings 2 --epochs 2",
    MATHEMATICS: "--graphs texas --cases gcn --pairs 1 --folder {folder}",
    STREAMS: "--folder {folder}",
    STEPS: "--graphs texas --cases gcn --draws 5 --folder {folder}",
    ACCURACY: "--graphs texas --cases gcn --at-most 2 --folder {folder}",
    ATTENTION: "--graphs texas",
    ENGINES: "--graphs texas --methods gcn --out {folder}/engines.json",
    SEARCHES: "--graphs texas --methods gcn --trials 1 --out {folder}/searches.json",
    "make bench": "--graphs texas --no-memory --out {folder}/epochs.json",
    "python -m benchmarks.pruning": "--graphs texas --trials 1 --folder {folder}",
    "python -m benchmarks.overhead": "--rounds 1 --at-most 4",
    "python -m benchmarks.store": "--rows 1000 --folder {folder}",
    SCALE: "--studies 10 --trials 12 --folder {folder}",
    RESUME: "--trials 1000",
    SOAK: "--cycles 1",
    "make fuzz": "--count 20",
    "python -m benchmarks.accuracy": "--pairs 2 --max-epochs 3 --out {folder}/accuracy.json",
    "python -m benchmarks.null_check": "--draws 2 --out {folder}",
}
TOLD = {
    THREADS: r"texas +shared kernels +[\d.]+ +[\d.]+ +\d+",
    MATHEMATICS: r"texas +gcn +1 +1 ",
    STREAMS: r"keep rate at dropout 0.5, z +-?[\d.]+ +[\d.]+",
    STEPS: r"texas +gcn +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+",
    ACCURACY: r"texas +gcn +2 +[-+][\d.]+ ± [\d.]+ +1.0 +[\d.]+",
    ATTENTION: r"texas +[\d.]+ +[\d.]+ +\d+%",
    "make bench": r"texas +gcn\+clar edge +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+x +[\d.]+x",
    ENGINES: r"texas +gcn +0.5 +[\d.]+ +[\d.]+ +[\d.]+x",
    SEARCHES: r"all +[\d.]+ +[\d.]+ +[\d.]+x",
    "python -m benchmarks.pruning": r"texas +12 +\d+ +108 +[\d.]+%",
    "python -m benchmarks.overhead": r"0.25 s +\d+ +4 +[\d.]+ +[\d.]+ +[\d.]+%",
    "python -m benchmarks.store": r"rows in repeats +1,000",
    SCALE: r"studies, trials, finals +10, 120, 10",
    RESUME: r"trials, repeats +1000, 1000",
    SOAK: r'"cycles": 1,',
    "make fuzz": r"files +20, seed 0\naccepted +\d+\nrefused +\d+, for \d+ reasons",
    "python -m benchmarks.accuracy": r"texas +gcn\+clar .+by accuracy +[\d.]+ ± [\d.]+ +71.38",
    "python -m benchmarks.null_check": r"300/100/100 +10 +2 +12\.\d +100.00 ± 0.00",
}


def test_there_are_commands():
    assert len(COMMANDS) == len(set(COMMANDS)) > 5


@pytest.mark.parametrize("command", COMMANDS)
def test_it_runs(command, tmp_path, data_folder):
    words = (_of_make(command) if command.startswith("make ") else command).split()
    words += SHORT[command].format(folder=tmp_path).split()
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    environment = {**kept, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, *words[1:]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(TOLD[command], done.stdout), done.stdout


def _of_make(command: str) -> str:
    """What make would execute; its set-up is done, as these tests run."""
    words = [*command.split(), "--dry-run", "--no-print-directory"]
    made = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return made.stdout.splitlines()[-1]
