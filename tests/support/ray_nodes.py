"""Nodes of a Ray cluster as processes on this machine; all of them listen on loopback alone."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from support.commands import Place

from clar_tune.cluster.ray_internals import LOOPBACK

RAY = Path(sys.executable).with_name("ray")
PATIENCE = 240.0
"""Seconds for a node to start on a busy machine."""

STARTED = "Ray runtime started"

WORKER = f"""\
import json, signal, sys
from ray._private.node import Node
from ray._private.parameter import RayParams
own = dict(node_manager_port=0, min_worker_port=0, max_worker_port=0, include_log_monitor=False)
params = RayParams(gcs_address=sys.argv[1], **own, **json.loads(sys.argv[2]))
params.dashboard_agent_listen_port = None
Node(params, head=False, shutdown_at_exit=False, spawn_reaper=False)
print("{STARTED}", flush=True)
signal.pause()
"""
"""`ray start` refuses to start a second node on loopback."""


class RayCluster:
    """A head and workers, each with a folder of its own to work in."""

    def __init__(self, folder: Path, token: str | None) -> None:
        self.folder, self.address = folder, f"127.0.0.1:{free_port()}"
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        # Ray's sockets lie in it, and their names must not be long.
        self._temporary = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
        self._token = folder / "token"
        folder.mkdir(exist_ok=True)
        if token is not None:
            self._token.write_text(token)

    @property
    def environment(self) -> dict[str, str]:
        """What lets a process in."""
        if self._token.exists():
            return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(self._token)}
        return {"RAY_AUTH_MODE": "disabled"}

    def start_head(self, *options: str, **environment: str) -> None:
        """A head; ``options`` are those of ``ray start``."""
        port = self.address.rpartition(":")[2]
        command = [RAY, "start", "--head", "--block", f"--port={port}", *options]
        command += ["--include-dashboard=false", f"--temp-dir={self._temporary}"]
        self._start("head", command, environment)

    def start_worker(
        self, name: str, environment: dict[str, str] | None = None, **resources: Any
    ) -> None:
        """A worker; ``resources`` are ``num_cpus``, ``num_gpus``, ``memory`` …"""
        small = {"object_store_memory": 200 * 2**20}
        given = json.dumps({**small, **resources})
        command = [sys.executable, "-c", WORKER, self.address, given]
        self._start(name, command, environment or {})

    def kill(self, name: str) -> None:
        """SIGKILL to all processes of a node, as if its machine lost power."""
        process = self._nodes.pop(name)
        family = [psutil.Process(process.pid)]
        family += family[0].children(recursive=True)
        for member in family:
            try:
                member.kill()
            except psutil.NoSuchProcess:
                continue
        process.wait()

    def announce_loss_of(self, node: str, seconds: int) -> None:
        """What a cloud does when it is about to take a spot machine away."""
        command = [RAY, "drain-node", f"--address={self.address}", f"--node-id={node}"]
        command += ["--reason=DRAIN_NODE_REASON_PREEMPTION", "--reason-message=taken away"]
        done = subprocess.run(
            [*command, f"--deadline-remaining-seconds={seconds}"],
            env={**os.environ, **LOOPBACK, **self.environment},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr

    def close(self) -> None:
        """End all nodes, the head last."""
        for name in reversed(list(self._nodes)):
            self.kill(name)
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _start(self, name: str, command: list[Any], environment: dict[str, str]) -> None:
        folder = self.folder / name
        folder.mkdir()
        out = folder / "out.txt"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "CLAR_TUNE_"))}
        ours = {**LOOPBACK, "RAY_USAGE_STATS_ENABLED": "0", **self.environment}
        with out.open("w") as stream:
            self._nodes[name] = subprocess.Popen(
                command,
                cwd=folder,
                env={**kept, **ours, **environment},
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        until = time.monotonic() + PATIENCE
        while STARTED not in out.read_text():
            assert self._nodes[name].poll() is None, out.read_text()
            assert time.monotonic() < until, f"{name} does not start: {out.read_text()}"
            time.sleep(0.1)


class Member(Place):
    """A place on one of a cluster's machines."""

    def __init__(self, folder: Path, space: str, cluster: RayCluster) -> None:
        super().__init__(folder, space)
        self.cluster = cluster

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), **self.cluster.environment}


@contextmanager
def ray_cluster(folder: Path, token: str | None = "a-token-of-tests") -> Iterator[RayCluster]:
    """A cluster without nodes so far; all end with the block."""
    cluster = RayCluster(folder, token)
    try:
        yield cluster
    finally:
        cluster.close()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
