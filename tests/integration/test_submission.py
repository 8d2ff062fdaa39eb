"""Runs that a cluster drives by itself, on a real head with a token."""

import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import PACED, PATIENCE, Done, Place, assert_exact
from support.ray_nodes import RAY, STARTED, RayCluster, free_port

TOKEN = "0123456789abcdef" * 4


HEAD = f"""\
import json, signal, sys
from ray._private.node import Node
from ray._private.parameter import RayParams
from ray._private.utils import write_ray_address
own = dict(node_ip_address="127.0.0.1", dashboard_host="127.0.0.1", include_dashboard=True)
params = RayParams(num_cpus=2, **own, **json.loads(sys.argv[1]))
node = Node(params, head=True, shutdown_at_exit=False, spawn_reaper=False)
write_ray_address(node.gcs_address, params.temp_dir)  # or jobs take any cluster they find
print("{STARTED}", flush=True)
signal.pause()
"""
"""`ray start --head` without its client server, which gives up early on a busy machine."""


class Head(RayCluster):
    """A head that takes jobs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, TOKEN)
        self.dashboard = f"http://127.0.0.1:{free_port()}"

    def start(self) -> None:
        given = {
            "gcs_server_port": int(self.address.rpartition(":")[2]),
            "dashboard_port": int(self.dashboard.rpartition(":")[2]),
            "dashboard_agent_listen_port": free_port(),
            "temp_dir": self._temporary,
        }
        environment = {
            "PATH": f"{RAY.parent}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "RAY_DASHBOARD_STARTUP_TIMEOUT_S": str(round(PATIENCE)),
            "RAY_worker_niceness": "0",  # else trials wait for every other test
        }
        self._start("head", [sys.executable, "-c", HEAD, json.dumps(given)], environment)
        wait_for(self._takes_jobs, "the dashboard")

    def _takes_jobs(self) -> bool:
        host, _, port = self.dashboard.removeprefix("http://").partition(":")
        with socket.socket() as probe:
            return probe.connect_ex((host, int(port))) == 0


class Laptop(Place):
    """A folder on another machine, as far as a tunnel to the dashboard makes one."""

    def __init__(self, folder: Path, head: Head, space: str = PACED) -> None:
        super().__init__(folder, space)
        # A folder of the head; the laptop looks into it for the tests' sake alone.
        self.head, self.at = head, ("--store", str(folder / "store"))
        self.token = {"RAY_AUTH_TOKEN_PATH": head.environment["RAY_AUTH_TOKEN_PATH"]}

    def submit(self, command: str, *words: str) -> Done:
        return self.run("submit", command, *words, *self.at)

    def states(self, run: str) -> tuple[int, dict]:
        done = self.run("status", run, "--json", *self.at)
        assert done.err == ""
        return done.code, json.loads(done.out)

    def _environment(self) -> dict[str, str]:
        ours = {"RAY_API_SERVER_ADDRESS": self.head.dashboard, "HOME": str(self.folder)}
        return {**super()._environment(), **ours, **self.token}


@pytest.fixture(scope="module")
def head(tmp_path_factory) -> Iterator[Head]:
    head = Head(tmp_path_factory.mktemp("head"))
    try:
        head.start()
        yield head
    finally:
        head.close()


def wait_for(moment, what):
    until = time.monotonic() + PATIENCE
    while not moment():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.2)


def test_a_run_outlives_the_process_that_submitted_it(tmp_path, head):
    place = Laptop(tmp_path / "laptop", head)
    submitted = place.submit("run", "--space", "space.yaml", "--trials", "3", "--max-concurrent=1")
    assert submitted.code == 0, submitted.err
    name = submitted.out.strip()
    assert name.startswith("space-")
    assert f"submitted as job {name} to {head.dashboard}" in submitted.err

    # Nothing of this laptop is left but the job; its models are those that travelled.
    (place.folder / "own_models.py").unlink()
    looked = place.run("logs", name, "--follow")
    assert looked.code == 0, looked.out
    assert "Test accuracy in %" in looked.out
    assert TOKEN not in looked.out
    assert_exact(place, name, trials=3, repeats=3, finals=3)
    assert place.store.find(name).row.state == "finished"
    assert not list((head.folder / "head").rglob("clar-store"))
    logs = [file for file in Path(head._temporary).rglob("*") if file.is_file()]
    assert f"job-driver-{name}.log" in {file.name for file in logs}
    assert [file for file in logs if TOKEN.encode() in file.read_bytes()] == []

    code, state = place.states("latest")
    assert code == 0
    assert (state["run"], state["job"], state["command"]) == (name, name, "run")
    assert (state["state"], state["exit_code"], state["message"]) == ("succeeded", 0, None)
    assert state["progress"] == {
        **{"state": "finished", "studies": 1, "studies_asked": 1},
        **{"trials": 3, "finals": 3},
    }
    assert place.run("logs", name[:-1]).out == looked.out


def test_stop_finishes_what_is_under_way_and_resume_goes_on(tmp_path, head):
    place = Laptop(tmp_path / "laptop", head)
    place.pace(1.5)  # ten minutes would not be enough for all
    words = ("--trials", "3", "--repeats", "18", "--no-pruning", "--name", "paced")
    begun = place.submit("run", "--space", "space.yaml", "--max-concurrent", "1", *words)
    assert begun.code == 0, begun.err
    wait_for(lambda: "paced" in (run.name for run in place.store.runs()), "the run")
    wait_for(lambda: len(place.repeats("paced")) > 1, "two repeats")

    code, state = place.states("paced")
    assert (code, state["state"], state["exit_code"]) == (0, "running", None)
    twice = place.submit("resume", "paced")
    assert twice.code == 1
    assert "run paced is at work" in twice.err

    stopped = place.run("stop", "pac", "--wait")
    assert stopped.code == 0
    assert stopped.err.splitlines()[-1] == "paced has ended (stopped)"
    assert place.store.find("paced").row.state == "interrupted"
    code, state = place.states("paced")
    assert (code, state["state"]) == (130, "stopped")
    log = place.run("logs", "paced").out
    again = shlex.join(["clar-tune", "submit", "resume", "paced", *place.at])
    assert "repeats under way are finished first" in log
    assert log.splitlines()[-1] == f"interrupted; go on with: {again}"
    stored, trials = place.trainings("paced"), place.trials("paced")
    assert {row["state"] for row in trials} <= {"running", "complete"}
    assert sum(row["repeats"] for row in trials) == len(stored)
    assert "had ended before (stopped)" in place.run("stop", "paced").err

    taken = place.submit("run", "--space", "space.yaml", "--name", "paced")
    assert taken.code == 1
    assert "`clar-tune submit resume paced`" in taken.err
    place.pace(None)
    resumed = place.submit("resume", "pace")
    assert (resumed.code, resumed.out) == (0, "paced\n"), resumed.err
    assert place.run("logs", "paced", "--follow").code == 0
    after = place.trainings("paced")
    assert {key: after[key] for key in stored} == stored
    assert_exact(place, "paced", trials=3, repeats=18, finals=3)
    code, state = place.states("paced")
    assert (code, state["job"], state["command"]) == (0, "paced.2", "resume")
    listed = place.run("status").out.splitlines()
    assert [line.split()[:3] for line in listed if line.startswith("paced")] == [
        ["paced", "resume", "succeeded"],
        ["paced", "run", "stopped"],
    ]


def test_a_run_that_ends_without_winners_failed_and_says_why(tmp_path, head):
    space = PACED.replace("own_models:Paced", "own_models:Raises")
    place = Laptop(tmp_path / "laptop", head, space)
    words = ("--trials", "2", "--name", "broken", "--max-concurrent", "1")
    assert place.submit("run", "--space", "space.yaml", *words).code == 0
    looked = place.run("logs", "broken", "--follow")
    assert looked.code == 3, looked.out
    assert "broken: no winner has finals yet" in looked.out
    code, state = place.states("broken")
    assert (code, state["state"], state["exit_code"]) == (3, "failed", 3)
    assert "no winner, all 2 trials failed" in state["message"]
    assert place.store.find("broken").row.state == "incomplete"
    shown = place.run("status", "broken").out.splitlines()
    assert shown[0].startswith("broken  run  failed")
    assert "no winner, all 2 trials failed" in shown[1]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"RAY_AUTH_TOKEN": "feedface" * 8}, "refuses the token"),
        ({}, "wants a token, and none was sent"),
        ({"RAY_AUTH_MODE": "disabled"}, "wants a token, and none was sent"),
    ],
)
def test_nobody_gets_in_without_the_token(tmp_path, head, given, text):
    place = Laptop(tmp_path / "laptop", head)
    place.token = given
    for words in (("status",), ("submit", "run", "--space", "quickstart", "--store", "/nowhere")):
        done = place.run(*words)
        assert done.code == 1
        assert len(done.err.splitlines()) == 1
        assert text in done.err
        assert "feedface" not in done.err


def test_an_unknown_run_is_refused(tmp_path, head):
    place = Laptop(tmp_path / "laptop", head)
    for command in ("status", "logs", "stop"):
        done = place.run(command, "nothing")
        assert done.code == 1
        assert len(done.err.splitlines()) == 1
        # The first if the other tests have not run.
        assert "no runs were submitted" in done.err or "unknown submitted run" in done.err
