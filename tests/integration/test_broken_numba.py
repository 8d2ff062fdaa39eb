"""Compiled programs on a cluster one of whose machines cannot load numba."""

import json

from support.commands import ONE, SPACE, assert_exact
from support.ray_nodes import Member, ray_cluster

RUN = ("--engine", "native", *ONE)
CAUSE = "numba cannot be loaded (no LLVM here)"


def test_machines_that_cannot_run_programs_are_refused_or_left_out(tmp_path):
    modules = tmp_path / "modules"
    (modules / "numba").mkdir(parents=True)
    (modules / "numba/__init__.py").write_text("raise ImportError('no LLVM here')")
    with ray_cluster(tmp_path / "cluster") as cluster:
        place = Member(tmp_path / "place", SPACE, cluster)
        cluster.start_head("--num-cpus=0")
        cluster.start_worker("broken", {"PYTHONPATH": str(modules)}, num_cpus=1)
        done = place.search("--name", "none", "--address", cluster.address, *RUN)
        assert (done.code, done.out) == (1, "")
        (line,) = [line for line in done.err.splitlines() if line.startswith("clar-tune: ")]
        assert "which no machine can run" in line and "--engine torch" in line
        assert CAUSE in line
        assert not place.store.runs()

        cluster.start_worker("able", num_cpus=1)
        done = place.search("--name", "one", "--address", cluster.address, *RUN)
    assert done.code == 0, done.err
    assert_exact(place, "one", trials=9, repeats=3, finals=3)
    assert {row["state"] for row in place.trials("one")} <= {"complete", "pruned"}
    (left,) = json.loads(place.run("show", "one", "--json").out)["left_out"]
    assert left["cause"] == CAUSE
    assert f"workers cannot train there: {CAUSE}" in done.err
