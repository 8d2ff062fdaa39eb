"""Many trials through the real searcher, scheduler, actors and store, and a resume of many more.

Only trainings are stubs. What it takes at a hundred thousand stands in docs/BENCHMARKS.md.
"""

import json
import os
import subprocess
import sys

from support.pages import ROOT

STUDIES, TRIALS = 100, 30
STORED = 10_000
WORSE = 1.5
"""How much more a trial may occupy the driver in the last tenth of a run than in the first."""
MEMORY_MB = 1024


def printed(module: str, *words: str) -> dict[str, float]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "CLAR_TUNE_"))}
    command = [sys.executable, "-m", f"benchmarks.{module}", "--json", *words]
    done = subprocess.run(
        command, cwd=ROOT, env=kept, capture_output=True, text=True, timeout=2400, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def test_the_last_trials_of_a_run_cost_no_more_than_the_first():
    figures = printed("scale", "--studies", str(STUDIES), "--trials", str(TRIALS))
    assert (figures["trials"], figures["finals"]) == (STUDIES * TRIALS, STUDIES)
    assert figures["cpu_ratio"] <= WORSE, figures
    assert figures["driver_mb"] < MEMORY_MB
    assert figures["files"] < STUDIES, "no file per trial or study, whatever flushes there were"
    assert figures["store_mb"] * 1e6 / (figures["trials"] + figures["finals"]) < 500, "bytes a row"


def test_a_run_of_many_trials_is_restored_in_little_memory_and_asks_on():
    small = printed("resume", "--trials", str(STORED // 5))
    large = printed("resume", "--trials", str(STORED))
    assert (large["trials"], large["repeats"]) == (STORED, STORED)
    # Twice what five times as many trials would take if all of it grew with them.
    assert large["restored"] + large["asked"] < 10 * (small["restored"] + small["asked"]), large
    assert large["driver_mb"] < MEMORY_MB
    assert large["driver_mb"] - small["driver_mb"] < 0.02 * (STORED - STORED // 5), "20 KB a trial"
