"""The number of threads decides no digit of a variant."""

import os
import subprocess
import sys

import pytest
from support.graph_contents import contents

from clar_tune.graphs import apply_variants
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.loading import load


@pytest.fixture(scope="module")
def graph() -> Graph:
    return load("csbm-homophily")


def test_the_number_of_threads_changes_no_digit(graph, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # a spectrum for both
    variants = ({"band": 4}, {"filter": "high-pass"})
    here = [contents(apply_variants(graph, variant, 0)) for variant in variants]
    code = (
        "from support.graph_contents import contents; from clar_tune.graphs.loading import load\n"
        "from clar_tune.graphs.variants import apply_variants; graph = load('csbm-homophily')\n"
        f"for variant in {variants}: print(contents(apply_variants(graph, variant, 0)))\n"
    )
    environment = {
        **os.environ,
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", code]
    alone = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert alone.stdout.split() == here
