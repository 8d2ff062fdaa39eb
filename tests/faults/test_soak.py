"""Ten seeded cycles of ``make soak``: drivers killed, stopped, overtaken, refused."""

import json
import subprocess
import sys
from pathlib import Path


def test_ten_cycles_of_disturbed_drivers_lose_and_double_nothing():
    command = [sys.executable, "-m", "benchmarks.soak", "--cycles", "10", "--seed", "0"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    assert figures["cycles"] == 10 and figures["violations"] == []
    assert figures["kills"] and figures["takeovers"] and figures["rows checked"] >= 200
