"""Every private or undocumented part of Ray that clar-tune uses; no other file knows one.

Each entry says what we need of Ray, why nothing public gives it, and since which release it is
as we use it; 2.30 is the oldest that was looked at. What a new release takes away is named by
``tests/unit/cluster/test_ray_internals.py``; CONTRIBUTING.md says how to raise the bound on Ray.

Ray is imported inside functions only: its environment is set before it is loaded.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ray.actor import ActorHandle
    from ray.tune.experiment import Trial

LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""The only switch by which a cluster listens on loopback alone, or is looked for there.

`ray.init` takes an address to listen on for the dashboard alone. The switch is meant for Windows
and macOS, and nothing says what it does on Linux. Since 2.30.
"""

PRESTART = "RAY_prestart_worker_first_driver"
"""Whether a private cluster starts a worker for each processor as soon as its driver is there.

A setting of Ray's C++ core that is documented nowhere. Since 2.30.
"""

PRELOAD = "RAY_preload_python_modules"
"""Modules that workers load when they start, before they are given anything to do.

A setting of Ray's C++ core that is documented nowhere. Since 2.30.
"""

TITLES = "SPT_NOENV"
"""1 keeps titles of processes out of their environment, where the guard's mark stands.

A documented setting of setproctitle; that Ray has setproctitle inside is not. Since 2.48.
"""

PREEMPTION = "RAY_TRAIN_COUNT_PREEMPTION_AS_FAILURE"
"""1 makes the loss of a preempted machine a failure, as any other: the scheduler retries.

Otherwise Tune itself begins the trial anew, at its first repeat, whatever `FailureConfig` says.
Nothing but a comment in `ray.train.constants` explains it. Since 2.30.
"""

STOP_PATIENCE = "RAY_JOB_STOP_WAIT_TIME_S"
"""Seconds between the two signals that stop a submitted job, in the environment of that job.

`JobSubmissionClient.stop_job` documents that there is a time, not how to set it. Since 2.30.
"""

JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""What Ray tells a submitted job about itself, as JSON: whether a working directory came along.

`ray.get_runtime_context` tells it only once the driver is connected. Since 2.30.
"""

CLUSTER_ID = "/ray.rpc.NodeInfoGcsService/GetClusterId"
"""The gRPC method by which a head tells whether it knows a caller's token; it takes nothing.

Public calls try for minutes, send the token of this process and no other, and end the process
if it has none. Since 2.30; heads ask for tokens since 2.52.
"""


def temporary_folder() -> str:
    """The folder below which a private cluster keeps its files, for a message if it is full.

    Ray names it once it has started, which it has not. Since 2.30.
    """
    named = (os.environ[name] for name in ("RAY_TMPDIR", "TMPDIR") if name in os.environ)
    return next(named, "/tmp")


def head_address(address: str) -> str | None:
    """``HOST:PORT`` of the head that ``auto`` or an address means, as `ray.init` will take it.

    `ray.init` does not tell before it is connected, and tries that for minutes. Clusters that
    were found before are remembered, and others may have come. Since 2.30; the memory, and how
    it is cleared, since 2.56.
    """
    from ray._private import services

    services.find_gcs_addresses.cache_clear()  # type: ignore[attr-defined]
    return services.canonicalize_bootstrap_address(address)


def nodes_here() -> set[str]:
    """Hexadecimal ids of the nodes of any cluster that run on this machine.

    `ray.get_runtime_context` tells the one that a driver is connected to. A driver without one
    cannot be, but does not hear why. Since 2.54.
    """
    from ray._private import services

    return set(services.find_node_ids())  # type: ignore[no-untyped-call]


def token_header() -> dict[str, str]:
    """The token that this process would send, as a header; empty without one.

    The places of a token are documented, those on Kubernetes elsewhere; what counts is which
    one Ray takes. A file that is named and not there is an error. Since 2.53.
    """
    from ray._raylet import AuthenticationTokenLoader  # type: ignore[attr-defined]

    loader = AuthenticationTokenLoader.instance()
    known = loader.has_token(ignore_auth_mode=True)
    return dict(loader.get_token_for_http_header()) if known else {}


def head_client(address: str) -> Any:
    """A connection to a head, with the token of this process.

    `ray.util.state` asks the dashboard, which a cluster need not have, and everything else is
    for drivers that are connected. Since 2.30.
    """
    from ray._raylet import GcsClient  # type: ignore[attr-defined]

    return GcsClient(address=address)


def versions_of(client: Any) -> dict[str, str]:
    """``ray_version`` and ``python_version`` of a cluster; empty if it does not tell.

    `ray.init` compares them too, late and in other words. Since 2.50; before in another module.
    """
    from ray._common.usage.usage_lib import get_cluster_metadata

    return get_cluster_metadata(client) or {}


def nodes_of(client: Any, timeout: float) -> set[str]:
    """Hexadecimal ids of a cluster's nodes that are alive.

    `ray.nodes` is for drivers that are connected. Since 2.50.
    """
    from ray.core.generated.gcs_pb2 import GcsNodeInfo  # type: ignore[attr-defined]

    alive = GcsNodeInfo.GcsNodeState.ALIVE
    nodes = client.get_all_node_info(timeout=timeout, state_filter=alive)
    return {node.node_id.hex() for node in nodes.values()}


def is_head(node: Mapping[str, Any]) -> bool:
    """Whether a description of `ray.nodes` is that of the head.

    Of public calls only `ray.util.state` says it, which asks the dashboard. Since 2.30.
    """
    return "node:__internal_head__" in node["Resources"]


def autoscaler_file(cluster: str) -> Path | None:
    """The configuration that the autoscaler of a cluster with its head here was started with.

    Ray tells nobody which types of machines it may start; the process that does the scaling
    has the path among its arguments. Since 2.30.
    """
    import psutil  # type: ignore[import-untyped]

    option = "--autoscaling-config="
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        paths = [word.removeprefix(option) for word in words if word.startswith(option)]
        if paths and f"--gcs-address={cluster}" in words:
            return Path(paths[0]).expanduser()
    return None


def is_invalid_token(error: Exception) -> bool:
    """Whether an error of authentication is about a wrong token, and not about a missing one.

    `ray.exceptions.AuthenticationError` has a text and nothing else. Since 2.52.
    """
    return "invalid" in str(error).lower()


def withhold_credentials() -> None:
    """Keep the store's credentials with the driver, the only one that writes.

    Tune would hand them to every worker, and Ray's agents write what they hand on into logs.
    `runtime_env` adds variables and takes none away. Since 2.30.
    """
    from ray.tune.execution.class_cache import ENV_VARS_TO_PROPAGATE

    secret = {name for name in ENV_VARS_TO_PROPAGATE if name.startswith("AWS_")}
    ENV_VARS_TO_PROPAGATE.difference_update(secret)


def take_any_worker() -> None:
    """Let Tune take workers that were started ahead.

    Tune gives its own an environment, which those have not that were started before. On this
    machine they have the driver's. Since 2.30.
    """
    from ray.tune.execution.class_cache import DEFAULT_ENV_VARS, ENV_VARS_TO_PROPAGATE

    DEFAULT_ENV_VARS.clear()
    ENV_VARS_TO_PROPAGATE.clear()


def spare_starting_workers() -> None:
    """Let a trial whose worker is being started wait for that one.

    Tune gives it any worker that falls idle meanwhile, and ends the one that was about to be
    there. Where work is done faster than a worker starts, only the first would ever work. A
    trial that waits for room, and not for a start, still takes what is idle. Since 2.30.
    """
    from ray.tune.execution.tune_controller import TuneController

    reuse = TuneController._maybe_reuse_cached_actor
    if getattr(reuse, "spares", False):
        return

    def reuse_unless_starting(controller: Any, trial: "Trial") -> bool:
        own = controller._trial_to_actor.get(trial)
        starting = own is not None and controller._actor_manager.is_actor_started(own)
        if starting and trial not in controller._resetting_trials:
            return False
        return bool(reuse(controller, trial))

    setattr(reuse_unless_starting, "spares", True)  # noqa: B010
    setattr(TuneController, "_maybe_reuse_cached_actor", reuse_unless_starting)  # noqa: B010


def end_private_cluster() -> None:
    """Leave a cluster that this process has started, and end its processes at once.

    `ray.shutdown` waits a second for each of them to heed SIGTERM, which none of ours hears. It
    leaves a cluster alone that it does not know of as its own. Since 2.30.
    """
    import ray
    from ray._private import worker

    node, worker._global_node = worker._global_node, None
    ray.shutdown()
    if node is not None:
        node.kill_all_processes(check_alive=False, allow_graceful=False)


def live_trials(controller: Any) -> Iterable["Trial"]:
    """Trials of Tune that have not ended.

    Schedulers are given the controller, a class of Tune's inside. Callbacks are given trials,
    but every one there ever was. Since 2.30.
    """
    live: Iterable[Trial] = controller.get_live_trials()
    return live


def actor_of(trial: "Trial") -> "ActorHandle[Any] | None":
    """The worker of a trial, to end it if it is stuck.

    Tune lets the training step of a trial end before it stops it. Since 2.30.
    """
    return trial.temporary_state.ray_actor


def node_of_worker(error: str) -> str:
    """The id of the node where a worker was that an error of Tune's tells of; empty if unknown.

    Tune hands no actor on that did not start, and forgets a lost one before it says so; but the
    texts of Ray's errors name the actor. `ray.util.state`, which knows where an actor was, asks
    the dashboard, which a cluster need not have. Since 2.30.
    """
    from ray._private import state

    named = re.search(r"\bactor_id[=:]\s*([0-9a-f]{32})\b", error)
    known = state.actors(named[1]) if named else {}
    return str(known["Address"]["NodeID"]) if known else ""


def forget_results(trial: "Trial") -> None:
    """Free what Tune remembers of a trial's results: it keeps every trial there ever was.

    Nothing sets how much it keeps. Since 2.30.
    """
    known = trial.run_metadata
    known.last_result, known.metric_analysis, known.metric_n_steps = {}, {}, {}


CONTROLLER = cast(Any, None)
"""Stands for the controller that hooks of ASHA are given, and do not look at.

Asha are also rebuilt from stored rows, where Tune does not run. Since 2.30.
"""


def asha_trial(number: int) -> "Trial":
    """Stands for a trial: hooks of ASHA read its id and nothing else.

    A real one makes folders, and there is one for every stored trial. Since 2.30.
    """
    return cast("Trial", SimpleNamespace(trial_id=str(number)))
