"""Drivers that write rows until they are killed, and what must be left of them."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from support.stored_rows import run_row

from clar_tune.store import Store

DRIVER = """
import sys
from support.stored_rows import repeat_row, trial_row
from clar_tune.store import Store, tables, writer

tables.ROWS_PER_PART, tables.TRIALS_PER_PART, writer.FLUSH_ROWS = 40, 2, 7  # many parts
run = Store.open(sys.argv[1]).reopen("first")
number = int(sys.argv[2])
while True:
    run.append([repeat_row(number), trial_row(number % 5, repeats=number)])
    print(number, flush=True)
    number += 1
"""


def keys(store: Store) -> list[int]:
    """The rows of the run ``first``, by number."""
    return [int(key, 16) for key in store.table("repeats", "first", ["key"])["key"].to_pylist()]


def assert_sigkill_loses_and_doubles_nothing(store: Store, times: int, longest: float) -> None:
    """Kill a driver so many times, each after at most so many seconds."""
    draw = random.Random(5)
    store.create("first", run_row()).close()
    known = -1
    for _ in range(times):
        acknowledged = _killed(store, known + 1, draw.uniform(0, longest))
        seen = keys(store)  # a reader on the same machine, before anyone has cleaned up
        store.reopen("first").close()
        assert keys(store) == seen == list(range(len(seen)))
        known = len(seen) - 1
        assert known - acknowledged in (0, 1), "stored, killed before it could say so"
    trials = {row.trial: row.repeats for row in store.trials("first")}
    assert trials == {number % 5: number for number in range(known + 1)[-5:]}


def _killed(store: Store, first: int, seconds: float) -> int:
    """Run a driver for a while, kill it; the number of the last row that it saw stored."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, store.url, str(first)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        text=True,
    )
    assert process.stdout and process.stderr
    assert process.stdout.readline(), process.stderr.read()
    time.sleep(seconds)
    process.kill()
    last = process.stdout.read().split()
    process.communicate()
    return int(last[-1]) if last else first
