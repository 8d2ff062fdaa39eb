"""A Ray cluster to run on: a private one on this machine, or one that is there already."""

import logging
import os
import secrets
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import ray

from clar_tune.cluster.admission import admitted
from clar_tune.cluster.ray_internals import (
    PRESTART,
    end_private_cluster,
    is_head,
    temporary_folder,
)
from clar_tune.cluster.resources import Node as Node
from clar_tune.errors import ClusterError


def _nothing() -> None:
    pass


@contextmanager
def connected(
    address: str,
    modules: Sequence[Path] = (),
    *,
    logical_gpus: int | None = None,
    ahead: bool = False,
    meanwhile: Callable[[], object] = _nothing,
) -> Iterator[list[Node]]:
    """Start a private cluster (``local``) or join one, and leave it in the end.

    Args:
        address: ``local``, or where the cluster is.
        modules: folders of packages and files of modules that workers on other machines need;
            those on this machine find them by themselves.
        logical_gpus: how many GPUs a private cluster is told to have.
        ahead: whether a private cluster starts a worker for each processor at once.
        meanwhile: what is done while the cluster starts.
    """
    private = address == "local"
    # The thread stays as long as the cluster: the kernel ends processes with the thread that
    # has started them.
    with guarded(ahead=ahead) if private else nullcontext(), ThreadPoolExecutor(1) as starter:
        try:
            with _deaf_children():
                started = starter.submit(_connect, address, modules, logical_gpus)
                try:
                    meanwhile()
                finally:
                    wait([started])
            started.result()
            yield machines()
        finally:
            (end_private_cluster if private else ray.shutdown)()


def machines() -> list[Node]:
    """The machines that are alive."""
    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return [_node(node) for node in found if node["Alive"]]


def _connect(address: str, modules: Sequence[Path], gpus: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        own: dict[str, Any] = {"include_dashboard": False, "num_gpus": gpus}
    else:
        address = admitted(address)
        own = {"runtime_env": {"py_modules": list(map(str, modules))}} if modules else {}
    try:
        ray.init(address=address, **quiet, **own)
    except Exception as error:  # Ray raises plain ones too, such as for a slow start
        raise ClusterError(_refusal(address, error)) from error


def _refusal(address: str, error: Exception) -> str:
    """Why there is no cluster, in Ray's words and ours."""
    said = (str(error).strip().splitlines() or [type(error).__name__])[0]
    if address == "local":
        folder = temporary_folder()
        free = shutil.disk_usage(folder).free / 2**20
        return (
            f"Ray does not start on this machine ({said}). It needs room in the temporary "
            f"folder, and {folder} has {free:.0f} MiB: choose another with TMPDIR."
        )
    return (
        f"--address {address}: no Ray cluster answers ({said}). "
        "Use local, auto on a machine of a cluster, or HOST:PORT."
    )


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Threads and processes started in the block do not hear SIGTERM; this one does afterwards.

    Batch systems send it to a whole process group. The driver drains then, and needs its
    cluster for that; Ray itself sees to it that Ctrl-C reaches the driver alone.
    """
    handler = signal.getsignal(signal.SIGTERM)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray has put its own in its place
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _node(node: dict[str, Any]) -> Node:
    has = node["Resources"]
    return Node(
        cpus=has.get("CPU", 0.0),
        gpus=has.get("GPU", 0.0),
        memory=has.get("memory", 0.0),
        name=node["NodeManagerHostname"],
        head=is_head(node),
        id=node["NodeID"],
    )


MARK = "CLAR_TUNE_CLUSTER"
"""A variable in the environment of every process of the cluster."""

WAIT_AND_KILL = """\
read _
while pids=$(grep -ls "$1" /proc/[0-9]*/environ | cut -d / -f 3) && [ -n "$pids" ]; do
    kill -9 $pids
    sleep 0.05
done
"""


@contextmanager
def guarded(*, ahead: bool = False) -> Iterator[None]:
    """Processes that Ray starts in the block end with it, or with this process.

    The kernel ends most of them with the driver. But Ray's agents would try for a minute to
    tell the dead cluster that it is dead, and workers that just start would wait for it.
    """
    mark = f"{MARK}={secrets.token_hex(16)}"
    guard = subprocess.Popen(
        ["sh", "-c", WAIT_AND_KILL, "sh", mark],
        stdin=subprocess.PIPE,  # it closes when this process ends, however it does
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # out of reach of Ctrl-C
    )
    os.environ[MARK] = mark.partition("=")[2]
    os.environ[PRESTART] = "1" if ahead else "0"
    try:
        yield
    finally:
        del os.environ[MARK], os.environ[PRESTART]
        guard.communicate()
