"""A head and workers on hosts of their own: faults of machines and networks, and the token."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.commands import Going, assert_exact
from support.hosts import HEAD, PREFIX, RAY, Desk, Host, Network, missing, network

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

PACE = Path("/dev/shm", f"{PREFIX}-pace")
"""Seconds that a pass of ``Slow`` takes; hosts share no file below /tmp, but this one."""

MODEL = f"""\
import time
from pathlib import Path

import torch


class Slow(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x, edge_index):
        time.sleep(float(Path("{PACE}").read_text()))
        return self.linear(x)


class Late(Slow):
    pass
"""

SPACE = """\
graphs: [csbm-homophily]
methods: ["travels:Slow", "travels:Late"]
protocol: balanced-60-20-20
training: {max_epochs: 3, patience: 3, warmup: 1}
search: {trials: 4, repeats: 3}
finals: 3
settings: {tuned: {shared: {lr: {low: 0.001, high: 0.3, log: true}}}}
"""

ASK = """\
import http.client, sys
import grpc

def answer(port):
    try:
        connection = http.client.HTTPConnection(sys.argv[1], port, timeout=20)
        connection.request("GET", "/")
        reply = connection.getresponse()
        return "metrics" if reply.read(6) == b"# HELP" else str(reply.status)
    except ConnectionRefusedError:
        return "nobody"
    except http.client.BadStatusLine:  # it speaks gRPC
        channel = grpc.insecure_channel(f"{sys.argv[1]}:{port}")
    try:
        channel.unary_unary("/ray.rpc.NodeInfoGcsService/GetClusterId")(b"", timeout=20)
        return "served"
    except grpc.RpcError as error:
        return error.code().name

for port in sys.argv[2:]:
    print(port, answer(port))
"""
"""What every port of a host answers to a caller without a token."""

ACTOR = "^ray::ResourceTrainable"
RUN = ("run", "--space", "space.yaml", "--address", HEAD, "--name")


@dataclass(frozen=True)
class Cluster:
    """A head without CPUs, and two workers with one each."""

    net: Network
    head: Host
    workers: list[Host]
    folder: Path

    def desk(self, name: str) -> Desk:
        """A folder on the head, with a space and a model that no other host sees."""
        desk = Desk(self.head, self.folder / name, SPACE)
        (desk.folder / "travels.py").write_text(MODEL)
        return desk

    def replace(self, lost: Host) -> None:
        """A worker that is started again, on a host that forgot everything."""
        lost.kill()
        lost.mend()
        lost.boot()
        self.net.worker(lost)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("hosts")
    pace(0.0)
    try:
        with network() as net:
            head = net.head(folder)
            yield Cluster(net, head, [net.worker(), net.worker()], folder)
    finally:
        PACE.unlink()


def pace(seconds: float) -> None:
    PACE.with_suffix(".new").write_text(str(seconds))
    PACE.with_suffix(".new").rename(PACE)


@contextmanager
def half_way(cluster: Cluster, desk: Desk) -> Iterator[Going]:
    """A run that is slow, has stored some results, and has an actor on both workers."""
    pace(0.4)
    with desk.started(*RUN, "it") as going:
        going.wait_for(lambda: len(desk.repeats("it")) > 1, "the first repeats")
        for host in cluster.workers:
            going.wait_for(lambda host=host: host.processes(ACTOR), f"an actor on {host.name}")
        yield going


def retries(desk: Desk) -> int:
    return sum(row["retries"] for row in desk.trials("it"))


def assert_finished(desk: Desk, stored: dict[str, object]) -> None:
    """Exact budgets, nothing failed, and what was stored in the middle is there as it was."""
    assert desk.store.find("it").row.state == "finished"
    assert_exact(desk, "it", trials=4, repeats=3, finals=3)
    assert {row["state"] for row in desk.trials("it")} <= {"complete", "pruned"}
    after = desk.trainings("it")
    assert {key: after[key] for key in stored} == stored


def test_a_run_uses_all_workers_and_not_the_head(cluster):
    desk = cluster.desk("all")
    with half_way(cluster, desk) as going:
        assert len(going.workers()) == 0  # not below the driver, as on a private cluster
        assert cluster.head.processes(ACTOR) == []
        pace(0.0)
        done = going.end()
    assert done.code == 0, done.err
    assert_finished(desk, {})
    assert retries(desk) == 0


def test_a_host_is_cut_off_and_another_killed(cluster):
    desk, (cut, killed) = cluster.desk("lost"), cluster.workers
    with half_way(cluster, desk) as going:
        stored = desk.trainings("it")
        cut.cut()
        going.wait_for(lambda: retries(desk) >= 1, "the first loss")
        third = cluster.net.worker()
        going.wait_for(lambda: third.processes(ACTOR), "a host that came later at work")
        killed.kill()
        going.wait_for(lambda: retries(desk) >= 2, "the second loss")
        pace(0.0)
        done = going.end()
    assert done.code == 0, done.err
    assert_finished(desk, stored)
    cluster.replace(cut)
    cluster.workers[:] = [third, cut]


def test_the_network_of_the_head_fails_for_a_moment_and_for_long(cluster):
    desk = cluster.desk("head")
    with half_way(cluster, desk) as going:
        stored = desk.trainings("it")
        cluster.head.cut()
        time.sleep(2)
        cluster.head.mend()
        before = len(desk.repeats("it"))
        going.wait_for(lambda: len(desk.repeats("it")) > before + 1, "results after a moment")
        assert retries(desk) == 0
        cluster.head.cut()
        going.wait_for(lambda: retries(desk) >= 2, "both losses")
        cluster.head.mend()
        for host in cluster.workers:
            cluster.replace(host)
        pace(0.0)
        done = going.end()
    assert done.code == 0, done.err
    assert_finished(desk, stored)


def test_a_worker_with_another_token_is_refused(cluster):
    stranger = cluster.net.host(token="another" * 8)
    done = stranger.ray("--address", HEAD, "--num-cpus", "1")
    assert done.code != 0
    assert "InvalidAuthToken" in done.err
    assert stranger.address not in cluster.head.run(RAY, "list", "nodes").out


def test_a_driver_with_another_token_is_refused(cluster, monkeypatch):
    desk = cluster.desk("stranger")
    cluster.head.write("/tmp/another", "another" * 8)
    monkeypatch.setattr(
        type(cluster.head),
        "environment",
        lambda host: {**os.environ, "RAY_AUTH_TOKEN_PATH": "/tmp/another"},
    )
    done = desk.run(*RUN, "it")
    assert done.code == 1
    *_, line = done.err.splitlines()
    assert "refuses the token" in line and "another" not in line
    assert desk.store.runs() == []


def test_without_the_token_other_hosts_get_nothing_but_metrics(cluster):
    listening = [line.split()[3] for line in cluster.head.run("ss", "-ltnH").out.splitlines()]
    assert [place for place in listening if place.endswith(":8265")] == ["127.0.0.1:8265"]
    ports = sorted({place.rpartition(":")[2] for place in listening})
    asked = cluster.workers[0].run(sys.executable, "-c", ASK, cluster.head.address, *ports)
    answers = dict(line.split(" ", 1) for line in asked.out.splitlines())
    assert answers.pop("8265") == "nobody"
    assert answers["52365"] == "401"  # of the agent that takes jobs, too
    assert answers["6379"] == "UNAUTHENTICATED"  # of the cluster's own service
    assert set(answers.values()) <= {"401", "UNAUTHENTICATED", "UNIMPLEMENTED", "metrics"}
