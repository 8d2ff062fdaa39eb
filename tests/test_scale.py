"""Many trials through the real searcher, scheduler, actors and store; only trainings are stubs.

`python -m benchmarks.scale` does the same with 10,000 trials, which takes some ten minutes.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
STUDIES, TRIALS = 100, 12
"""A tenth is then one graph: each part has beginnings of studies and ends of them."""
WORSE = 1.5
"""How much longer a trial may take in the last tenth of a run than in the first."""
NOISE = 2
"""Runs until the ratio must hold: other programs of the machine slow down single tenths."""
MEMORY_MB = 1024


def measured() -> dict:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "CLAR_TUNE_"))}
    command = [sys.executable, "-m", "benchmarks.scale", "--json"]
    command += ["--studies", str(STUDIES), "--trials", str(TRIALS)]
    done = subprocess.run(
        command, cwd=ROOT, env=kept, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_last_trials_of_a_run_cost_no_more_than_the_first():
    runs = []
    while not runs or (runs[-1]["ratio"] > WORSE and len(runs) < NOISE):
        runs.append(measured())
        assert runs[-1]["trials"] == STUDIES * TRIALS
        assert runs[-1]["driver_mb"] < MEMORY_MB
        assert runs[-1]["files"] == 4, "no file per trial"
        assert runs[-1]["store_mb"] * 1e6 / runs[-1]["trainings"] < 500, "bytes per row"
    assert runs[-1]["ratio"] <= WORSE, runs
