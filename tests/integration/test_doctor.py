"""`clar-tune doctor` on a cluster whose machines are not all what they seem."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.commands import Done, Place
from support.ray_nodes import WORKER, RayCluster, free_port

TOKEN = "0123456789abcdef" * 4

INSPECT = """\
import sys
from clar_tune.cluster.environment import prepare
prepare(sys.argv[1])
from clar_tune.cluster.inspection import inspect
for check in inspect(sys.argv[1], patience=60):
    print("check", check.ok, check.name, check.found, sep="|")
"""


class Cluster(RayCluster):
    """A head, a worker with another torch-geometric and a GPU that is none, and a third."""

    def start(self) -> None:
        self.start_head("--num-cpus=0", f"--ray-client-server-port={free_port()}")
        fake = self.folder / "fake" / "torch_geometric-9.9.9.dist-info"
        fake.mkdir(parents=True)
        (fake / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: torch-geometric\nVersion: 9.9.9\n"
        )
        promised = json.dumps({"num_cpus": 2, "num_gpus": 1, "object_store_memory": 200 * 2**20})
        command = [sys.executable, "-c", WORKER, self.address, promised]
        self._start("liar", command, {"PYTHONPATH": str(fake.parent)})
        self.start_worker("honest", num_cpus=1)

    def raylet(self, name: str) -> psutil.Process:
        children = psutil.Process(self._nodes[name].pid).children()
        return next(child for child in children if child.name() == "raylet")


class Machine(Place):
    """A machine of the cluster."""

    def __init__(self, folder: Path, cluster: RayCluster) -> None:
        super().__init__(folder)
        self.cluster, self.own = cluster, dict(cluster.environment)

    def doctor(self, *words: str) -> tuple[Done, dict[str, dict]]:
        done = self.run("doctor", "--json", "--address", self.cluster.address, *words)
        return done, {check["name"]: check for check in json.loads(done.out)}

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "HOME": str(self.folder), **self.own}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), TOKEN)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.close()


def test_every_machine_is_checked(tmp_path, cluster):
    done, found = Machine(tmp_path, cluster).doctor()
    assert (done.code, done.err) == (1, "")
    checks = json.loads(done.out)  # nodes of one machine have the same name
    wrong = [check for check in checks if not check["ok"]]
    nodes = [check for check in checks if check["name"].startswith("node ")]
    assert found["cluster"]["found"] == f"3 nodes at {cluster.address}"
    assert found["cluster token"]["found"] == "accepted, and a wrong one is refused"
    assert "sends them to all machines through Ray" in found["graphs"]["found"]
    assert "can be written to" in found["store"]["found"]
    assert len(nodes) == 3
    assert nodes[0]["found"].startswith("the head, versions as here, 0 of")
    assert nodes[0]["found"].endswith("runs no trials")
    assert [check in nodes for check in wrong] == [True]
    assert "torch-geometric 9.9.9 instead of 2." in wrong[0]["found"]
    assert "Ray promises 1 GPUs, torch sees 0" in wrong[0]["found"]
    assert not (tmp_path / "store").exists()


def test_a_wrong_token_and_a_store_that_takes_nothing(tmp_path, cluster):
    machine = Machine(tmp_path, cluster)
    machine.own = {"RAY_AUTH_TOKEN": "feedface" * 8}
    done, found = machine.doctor("--store", "/proc/store")
    assert done.code == 1
    assert "feedface" not in done.out + done.err
    assert {name for name, check in found.items() if not check["ok"]} == {"cluster", "store"}
    assert "refuses the token" in found["cluster"]["found"]
    assert "/proc/store" in found["store"]["found"]
    assert found["training"]["ok"]


def test_a_machine_that_hangs_is_named(tmp_path, cluster):
    """The last test of the cluster: one of its machines is no good any more."""
    raylet = cluster.raylet("honest")
    raylet.send_signal(signal.SIGSTOP)
    done = subprocess.run(
        [sys.executable, "-c", INSPECT, cluster.address],
        env={**os.environ, **cluster.environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    # Ray's own core may print there that a machine does not answer.
    lines = [line.split("|") for line in done.stdout.splitlines() if line.startswith("check|")]
    silent = [found for _, ok, _, found in lines if ok == "False" and "9.9.9" not in found]
    assert len(silent) == 1, done.stdout
    assert silent[0].startswith(("no answer within 60 s", "was lost when it was asked"))


def node(address: str, **resources: float) -> dict:
    return {"NodeManagerAddress": address, "Resources": resources}
