"""A Ray cluster to run on: a private one on this machine, or one that is there already."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import ray

from clar_tune.errors import ClusterError
from clar_tune.resources import Resources
from clar_tune.search.guard import guarded


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster."""

    cpus: float
    gpus: float


@contextmanager
def connected(address: str) -> Iterator[list[Node]]:
    """Start a private cluster (``local``) or join one, and leave it in the end."""
    with guarded() if address == "local" else nullcontext():
        try:
            _connect(address)
            yield [_node(node) for node in _nodes() if node["Alive"]]
        finally:
            ray.shutdown()


def workers(nodes: list[Node], resources: Resources, limit: int | None) -> int:
    """How many trials run at once; an error if not a single one can."""
    slots = sum(resources.slots(node.cpus, node.gpus) for node in nodes)
    if slots < 1:
        sizes = ", ".join(f"{node.cpus:g} CPUs and {node.gpus:g} GPUs" for node in nodes)
        raise ClusterError(
            f"a trial with --cpus-per-trial {resources.cpus:g} and --gpus-per-trial "
            f"{resources.gpus:g} fits on no machine of the cluster ({sizes or 'none is alive'})."
        )
    return min(slots, limit) if limit else slots


def _connect(address: str) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    private: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        with _deaf_children():
            ray.init(address=address, **quiet, **private)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        raise ClusterError(
            f"--address {address}: no Ray cluster answers ({_first_line(error)}). "
            "Use local, auto on a machine of a cluster, or HOST:PORT."
        ) from error
    except SystemExit as error:  # Ray's own answer to SIGTERM, for as long as it starts
        raise KeyboardInterrupt from error


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started in the block do not hear SIGTERM; this one hears it afterwards.

    Batch systems send it to a whole process group. The driver drains then, and needs its
    cluster for that; Ray itself sees to it that Ctrl-C reaches the driver alone.
    """
    handler = signal.getsignal(signal.SIGTERM)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)  # Ray has put its own in its place
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _nodes() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return found


def _node(node: dict[str, Any]) -> Node:
    resources = node["Resources"]
    return Node(resources.get("CPU", 0.0), resources.get("GPU", 0.0))


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
