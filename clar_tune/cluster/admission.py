"""Whether a cluster lets this driver in, asked before Ray tries for minutes.

Ray answers most obstacles alike, with a connection that failed. Here each is named, with what to
do about it. No message holds a token.
"""

import platform
import time
from typing import Any

import grpc  # type: ignore[import-untyped]
import ray

from clar_tune.cluster.environment import is_loopback, is_token_auth_enabled
from clar_tune.cluster.ray_internals import (
    CLUSTER_ID,
    head_address,
    head_client,
    nodes_here,
    nodes_of,
    token_header,
    versions_of,
)
from clar_tune.errors import ClusterError

ANSWER = 10.0
"""Seconds within which a cluster answers."""

SAME_TOKEN = (
    "Copy the cluster's token file to ~/.ray/auth_token, or name it in RAY_AUTH_TOKEN_PATH; all "
    "machines of a cluster share one token"
)


def admitted(address: str) -> str:
    """``HOST:PORT`` of a cluster that this driver may join; an error says why it may not."""
    found = _located(address)
    where = f"--address {address}" if address == found else f"--address {address} ({found})"
    if not _answer(where, found, ()):
        _check_token(where, found)
    elif is_token_auth_enabled() and not (is_loopback(found) and _own_token()):
        # Ray itself would end this process if it found no token to send.
        raise ClusterError(
            f"{where}: the cluster lets in everybody who reaches it, as its machines were started "
            "without a token. Start them with RAY_AUTH_MODE=token, or set RAY_AUTH_MODE=disabled "
            "here if its network is closed to others."
        )
    client = _client(where, found)
    _check_versions(where, client)
    _check_membership(where, client)
    return found


def _located(address: str) -> str:
    """The address of a cluster's head."""
    if "://" in address:
        raise ClusterError(
            f"--address {address}: write HOST:PORT. A run is handed to a dashboard's address "
            "with `clar-tune submit --address`."
        )
    try:
        found = head_address(address)
        if found is None:
            raise ValueError("no cluster is named")
        int(found.rpartition(":")[2])
    except (ConnectionError, ValueError, TypeError) as error:
        raise ClusterError(
            f"--address {address}: no Ray cluster is found. Use local, auto on a machine of a "
            "cluster, or HOST:PORT."
        ) from error
    return found


def _answer(where: str, address: str, metadata: tuple[tuple[str, str], ...]) -> bool:
    """Whether a cluster lets a caller in; one that does not answer is an error."""
    answer = asked(address, metadata)
    if answer is None:
        raise ClusterError(
            f"{where}: nobody answers there within {ANSWER:.0f} s. Start a cluster with `ray "
            "start --head`, or give the HOST:PORT that it printed."
        )
    return answer


def asked(address: str, metadata: tuple[tuple[str, str], ...]) -> bool | None:
    """Whether a cluster answers a caller; none if there is no cluster."""
    until = time.monotonic() + ANSWER
    with grpc.insecure_channel(address) as channel:
        ask = channel.unary_unary(CLUSTER_ID)
        while True:
            try:
                ask(b"", metadata=metadata, timeout=ANSWER)
                return True
            except grpc.RpcError as error:
                code = error.code()
            if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
                return False
            if code != grpc.StatusCode.UNAVAILABLE or time.monotonic() > until:
                return None
            time.sleep(0.5)  # a head that just starts


def _check_token(where: str, address: str) -> None:
    if not is_token_auth_enabled():
        raise ClusterError(
            f"{where}: the cluster asks for a token, and RAY_AUTH_MODE=disabled sends none. "
            f"Unset it. {SAME_TOKEN}."
        )
    header = _own_token()
    if not header:
        raise ClusterError(
            f"{where}: the cluster asks for a token, and there is none here. {SAME_TOKEN}."
        )
    metadata = tuple((name.lower(), value) for name, value in header.items())
    if not _answer(where, address, metadata):
        raise ClusterError(
            f"{where}: the cluster refuses the token of this machine. {SAME_TOKEN}."
        )


def _own_token() -> dict[str, str]:
    """The token of this machine as a header, or nothing."""
    try:
        return token_header()
    except Exception:  # a file that is named but not there; its text might hold a token
        return {}


def _client(where: str, address: str) -> Any:
    try:
        return head_client(address)
    except ray.exceptions.AuthenticationError as error:
        raise ClusterError(f"{where}: the cluster refuses this driver. {SAME_TOKEN}.") from error
    except (RuntimeError, ray.exceptions.RayError) as error:
        raise ClusterError(
            f"{where}: the cluster answers, but not this driver ({type(error).__name__}). Its "
            "head may just start or be overloaded: try again."
        ) from error


def _check_versions(where: str, client: Any) -> None:
    theirs = versions_of(client)
    ours = {"ray_version": ray.__version__, "python_version": platform.python_version()}
    if any(theirs.get(name, version) != version for name, version in ours.items()):
        raise ClusterError(
            f"{where}: the cluster runs Ray {theirs.get('ray_version')} on Python "
            f"{theirs.get('python_version')}, this machine Ray {ours['ray_version']} on Python "
            f"{ours['python_version']}. Install the same on all machines."
        )


def _check_membership(where: str, client: Any) -> None:
    """A driver needs a node of the cluster on its own machine."""
    until = time.monotonic() + ANSWER
    while True:
        if nodes_of(client, ANSWER) & nodes_here():
            return
        if time.monotonic() > until:
            raise ClusterError(
                f"{where}: this machine is none of the cluster's. Start a node here with `ray "
                "start --address HOST:PORT`, or hand the run over with `clar-tune submit`."
            )
        time.sleep(0.5)  # a node that just starts
