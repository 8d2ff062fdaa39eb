"""A cluster looked over, machine by machine, before a run depends on it."""

import secrets
from collections.abc import Iterator
from typing import Any

import ray

from clar_tune.cluster.admission import asked
from clar_tune.cluster.connection import connected
from clar_tune.cluster.environment import is_loopback
from clar_tune.cluster.health import Check, Machine, differences, examine
from clar_tune.cluster.pinned_tasks import task_on
from clar_tune.cluster.ray_internals import is_head
from clar_tune.cluster.resources import GIB
from clar_tune.errors import ClusterError

ANSWER = 120.0
"""Seconds that all machines together have: a task starts a process, which loads torch."""


PARCEL = 2**20
"""Bytes that every machine is sent: more than Ray would send along with the task itself."""


def inspect(address: str, patience: float = ANSWER) -> list[Check]:
    """Every machine of a cluster, and whether its token keeps others out."""
    try:
        with connected(address):
            nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
            alive = [node for node in nodes if node["Alive"]]
            return [
                Check("cluster", True, f"{len(alive)} nodes at {_head_address()}"),
                _token(alive),
                *_machines(alive, patience),
                *_lost(nodes),
            ]
    except ClusterError as error:
        return [Check("cluster", False, str(error))]


def _token(nodes: list[dict[str, Any]]) -> Check:
    """Does the cluster turn away those who do not know its token?"""
    wrong = (("authorization", f"Bearer {secrets.token_hex(32)}"),)
    let_in = asked(_head_address(), wrong)
    if let_in is None:
        return Check("cluster token", False, "the head did not answer a wrong one: ask again")
    if not let_in:
        return Check("cluster token", True, "accepted, and a wrong one is refused")
    if all(is_loopback(node["NodeManagerAddress"]) for node in nodes):
        return Check(
            "cluster token", True, "none is asked for, and only this machine gets through"
        )
    return Check(
        "cluster token",
        False,
        "none is asked for: whoever reaches the cluster can run anything on it. Start its "
        "machines with RAY_AUTH_MODE=token and one token",
    )


def _machines(nodes: list[dict[str, Any]], patience: float) -> Iterator[Check]:
    ours = examine()
    parcel = ray.put(bytes(PARCEL))  # travels as graphs do
    tasks = {node["NodeID"]: task_on(node["NodeID"], _examined, parcel) for node in nodes}
    ready, _ = ray.wait(list(tasks.values()), num_returns=len(tasks), timeout=patience)
    for node in sorted(nodes, key=lambda node: (not is_head(node), node["NodeManagerAddress"])):
        answer = tasks[node["NodeID"]]
        name = f"node {node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
        if answer in ready:
            yield _answered(name, node, ours, answer)
        else:
            ray.cancel(answer, force=True)
            yield Check(name, False, f"no answer within {patience:.0f} s")


def _examined(parcel: bytes) -> Machine:
    """A machine that large objects reach: Ray starts a task when its arguments have arrived."""
    assert len(parcel) == PARCEL
    return examine()


def _answered(name: str, node: dict[str, Any], ours: Machine, answer: Any) -> Check:
    try:
        theirs: Machine = ray.get(answer)
    except ray.exceptions.RayTaskError as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return Check(
            name, False, f"cannot run clar-tune {ours.versions['clar-tune']}: {lines[-1].strip()}"
        )
    except ray.exceptions.RayError as error:
        return Check(name, False, f"was lost when it was asked ({type(error).__name__})")
    wrong = [*differences(ours, theirs), *_promises(node, theirs)]
    if theirs.cache:
        wrong.append(theirs.cache)
    return Check(name, not wrong, "; ".join(wrong) or _summary(node, theirs))


def _promises(node: dict[str, Any], theirs: Machine) -> list[str]:
    promised = node["Resources"].get("GPU", 0.0)
    if promised <= theirs.gpus:
        return []
    return [f"Ray promises {promised:g} GPUs, torch sees {theirs.gpus}: trials would not get one"]


def _summary(node: dict[str, Any], theirs: Machine) -> str:
    has = node["Resources"]
    cpus, gpus = has.get("CPU", 0.0), has.get("GPU", 0.0)
    text = (
        f"versions as here, {cpus:g} of {theirs.cpus} CPUs, {gpus:g} of {theirs.gpus} GPUs, "
        f"{has.get('memory', 0.0) / GIB:.1f} of {theirs.memory / GIB:.1f} GiB for trials"
    )
    role = "the head" if is_head(node) else ""
    return ", ".join(filter(None, (role, text, "" if cpus else "runs no trials")))


def _lost(nodes: list[dict[str, Any]]) -> list[Check]:
    names = sorted({node["NodeManagerAddress"] for node in nodes if not node["Alive"]})
    if not names:
        return []
    return [Check("lost nodes", True, f"{', '.join(names)} left the cluster or were cut off")]


def _head_address() -> str:
    return str(ray.get_runtime_context().gcs_address)
