"""The training loop on generated and real graphs."""

import os
import subprocess
import sys

import pytest

from clar_tune.graphs.graph import Graph
from clar_tune.graphs.loading import load


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm-homophily")


# Real graphs.


@pytest.mark.parametrize("sampling", ["node", "edge"])
def test_physics_trains_in_less_than_two_gigabytes(sampling, data_folder):
    code = (
        "import re, sys; from clar_tune.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "peak = re.search(r'VmHWM:\\s*(\\d+) kB', open('/proc/self/status').read())\n"
        "print(peak[1], file=sys.stderr)"
    )
    command = ["train", "--graph", "physics", "--method", "gcn+clar", "--max-epochs", "5"]
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "--set", f"sampling={sampling}"],
        env={**os.environ, "CLAR_TUNE_DATA": str(data_folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    kilobytes = int(done.stderr.split()[-1])
    assert 100_000 < kilobytes < 2_000_000
