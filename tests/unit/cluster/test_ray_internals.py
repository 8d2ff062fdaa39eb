"""What clar-tune uses of Ray's inside is there, and as it was; Ray is not started.

A case that fails says what of Ray is gone, what of ours uses it, and what to look at.
"""

import inspect
import mmap
import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import ray
from packaging.requirements import Requirement
from packaging.version import Version
from support.pages import ROOT

from clar_tune.cluster import ray_internals

INTERNALS = "clar_tune/cluster/ray_internals.py"
HOOKS = "clar_tune/cluster/tune_hooks.py"


@dataclass(frozen=True)
class Part:
    """A private part of Ray."""

    name: str
    """``module:attribute``, or ``file:text`` of a compiled file."""
    user: str
    """The name in ray_internals.py that needs it, or another file of ours."""
    needed: str
    """What must be true of it."""
    holds: Callable[[Any], bool]

    @property
    def home(self) -> str:
        """Where in Ray it is."""
        return self.name.partition(":")[0]

    def found(self) -> Any:
        """It itself; an error says that it is not there."""
        path = self.name.partition(":")[2]
        if "/" in self.home:
            return text_in(Path(ray.__file__).parents[1] / self.home, path)
        thing = import_module(self.home)
        for attribute in path.split("."):
            thing = getattr(thing, attribute)
        return thing


def text_in(file: Path, text: str) -> str:
    with (
        file.open("rb") as binary,
        mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        if content.find(text.encode()) < 0:
            raise AttributeError(f"{text} stands nowhere in it")
    return text


def problem(part: Part) -> str:
    """What is wrong with a part, for somebody who has never heard of it; empty if nothing is."""
    try:
        if part.holds(part.found()):
            return ""
        cause = "it is there, but has changed"
    except Exception as error:  # whatever Ray does instead
        cause = f"{type(error).__name__}: {error}"
    user = part.user if "/" in part.user else f"{part.user} in {INTERNALS}"
    return (
        f"Ray {ray.__version__} has no {part.name} as we need it ({cause}).\n"
        f"Needed: {part.needed}.\n"
        f"Used by: {user}, whose docstring says what for.\n"
        f"Look at: {part.home.replace('.', '/')} in Ray's repository, its history since the last "
        "release that passed, and whether there is something public now. See CONTRIBUTING.md."
    )


def called_with(*arguments: Any, **named: Any) -> Callable[[Any], bool]:
    """Whether a function can be called so."""
    return lambda function: bool(inspect.signature(function).bind(*arguments, **named))


def in_order(*texts: str) -> Callable[[Any], bool]:
    """Whether these texts stand in the source of a function or class, one after the other."""

    def holds(thing: Any) -> bool:
        source, at = inspect.getsource(thing), 0
        for text in texts:
            at = source.index(text, at)
        return True

    return holds


def keeps_to_loopback(services: Any) -> bool:
    with patch.object(services.ray_constants, "ENABLE_RAY_CLUSTER", False):
        return services.get_node_ip_address() == "127.0.0.1"


def counts_preemption(trial_class: Any) -> bool:
    trial, lost = trial_class("planted", stub=True), SimpleNamespace(preempted=True)
    with patch.dict(os.environ, {ray_internals.PREEMPTION: "1"}):
        trial._handle_ray_actor_error(lost)
    return trial.run_metadata.num_failures == 1


def takes_nothing(service: Any) -> bool:
    method = service.methods_by_name["GetClusterId"]
    path = f"/{service.full_name}/{method.name}"
    return path == ray_internals.CLUSTER_ID and not list(method.input_type.fields)


def names_the_folder(default: Callable[[], str]) -> bool:
    kept = {k: v for k, v in os.environ.items() if k not in ("RAY_TMPDIR", "TMPDIR")}
    for given in (
        {},
        {"TMPDIR": "/a"},
        {"RAY_TMPDIR": "/b"},
        {"TMPDIR": "/a", "RAY_TMPDIR": "/b"},
    ):
        with patch.dict(os.environ, {**kept, **given}, clear=True):
            if ray_internals.temporary_folder() != default():
                return False
    return True


def stores_versions(put: Callable[..., Any]) -> bool:
    stored = {}

    def internal_kv_put(key: Any, value: bytes, overwrite: bool, namespace: Any) -> None:
        stored[key, namespace] = value

    client = SimpleNamespace(
        internal_kv_put=internal_kv_put,
        internal_kv_get=lambda key, namespace: stored[key, namespace],
    )
    put(client, ray_init_cluster=False)
    return {"ray_version", "python_version"} <= ray_internals.versions_of(client).keys()


def starts_the_autoscaler(start: Callable[..., Any]) -> bool:
    with patch("ray._private.services.start_ray_process") as started:
        start("127.0.0.1:1", "logs", autoscaling_config="a.yaml")
    process = SimpleNamespace(info={"cmdline": started.call_args.args[0]})
    with patch("psutil.process_iter", return_value=[process]):
        return ray_internals.autoscaler_file("127.0.0.1:1") == Path("a.yaml")


def tells_tokens_apart(told: Callable[[int, str], str]) -> bool:
    errors = [ray.exceptions.AuthenticationError(told(status, "")) for status in (403, 401)]
    return [ray_internals.is_invalid_token(error) for error in errors] == [True, False]


def hands_on_what_the_set_names(names: Any) -> bool:
    from ray.tune.execution.class_cache import _ActorClassCache

    def handed_on() -> set[str]:
        with patch("ray.remote") as remote:
            _ActorClassCache().get(object)
        return remote.call_args.kwargs["runtime_env"]["env_vars"].keys() & secrets.keys()

    secrets = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "c"}
    before = set(names)
    names |= secrets.keys()  # as Ray made it, whatever ran before
    try:
        with patch.dict(os.environ, secrets):
            all_of_them = handed_on()
            ray_internals.withhold_credentials()
            return all_of_them == secrets.keys() and not handed_on()
    finally:
        names.clear()
        names |= before


def asks_for_no_environment(cache: Any) -> bool:
    home, asked = import_module("ray.tune.execution.class_cache"), []
    before = set(home.ENV_VARS_TO_PROPAGATE), dict(home.DEFAULT_ENV_VARS)

    def noted(runtime_env: Any) -> Any:
        asked.append(runtime_env)
        return lambda trainable: trainable

    try:
        ray_internals.take_any_worker()
        with patch.object(home.ray, "remote", noted):
            cache().get(object)
        return asked == [{"env_vars": {}}]
    finally:
        home.ENV_VARS_TO_PROPAGATE |= before[0]
        home.DEFAULT_ENV_VARS |= before[1]


def keeps_what_starts(controller_class: Any) -> bool:
    """Whether a trial with a worker under way takes no idle one, and one without does."""
    before = controller_class._maybe_reuse_cached_actor
    given: list[str] = []

    def give(controller: Any, trial: str) -> bool:
        given.append(trial)
        return True

    manager = SimpleNamespace(is_actor_started=lambda actor: actor == "under way")
    workers = {"starting": "under way", "waiting": "no room yet", "resetting": "under way"}
    controller = SimpleNamespace(
        _trial_to_actor=workers, _actor_manager=manager, _resetting_trials={"resetting"}
    )
    try:
        controller_class._maybe_reuse_cached_actor = give
        ray_internals.spare_starting_workers()
        ray_internals.spare_starting_workers()  # every Tuner asks for it
        reuse = controller_class._maybe_reuse_cached_actor
        answers = [reuse(controller, trial) for trial in ("starting", *workers, "new")]
    finally:
        controller_class._maybe_reuse_cached_actor = before
    return answers == [False, False, True, True, True] and given == ["waiting", "resetting", "new"]


def has_an_actor(trial_class: Any) -> bool:
    stored = in_order("self.temporary_state.ray_actor = ray_actor")(trial_class.set_ray_actor)
    return stored and ray_internals.actor_of(trial_class("planted", stub=True)) is None


def names_the_actor(exceptions: Any) -> bool:
    """Whether the texts of a raised error, of one in a start, and of a death lead to the node."""
    actor = "0123456789abcdef" * 2
    words = {"ip": "127.0.0.1", "actor_repr": "it", "actor_id": actor}
    raised = exceptions.RayTaskError("f", "Traceback (most …\nE: x", ValueError("x"), **words)
    died = ray.core.generated.common_pb2.ActorDiedErrorContext(actor_id=bytes.fromhex(actor))
    asked: list[str] = []

    def actors(number: str) -> dict[str, Any]:
        asked.append(number)
        return {"Address": {"NodeID": "its node"}}

    errors = (raised, exceptions.ActorDiedError(raised), exceptions.ActorDiedError(died))
    with patch("ray._private.state.actors", actors):
        nodes = [ray_internals.node_of_worker(str(error)) for error in errors]
        unknown = ray_internals.node_of_worker("a text without an actor")
    return nodes == ["its node"] * 3 and asked == [actor] * 3 and not unknown


def forgets(trial_class: Any) -> bool:
    trial = trial_class("planted", stub=True)
    trial.update_last_result({"training_iteration": 1, "score": 0.5})
    known = trial.run_metadata
    full = known.last_result and known.metric_analysis and known.metric_n_steps
    ray_internals.forget_results(trial)
    return bool(full) and not (known.last_result or known.metric_analysis or known.metric_n_steps)


def judges_stand_ins(asha: Any) -> bool:
    rungs = asha(time_attr="t", metric="x", mode="max", max_t=2)
    trial = ray_internals.asha_trial(0)
    rungs.on_trial_add(ray_internals.CONTROLLER, trial)
    result = {"t": 2, "x": 1.0}
    stopped = rungs.on_trial_result(ray_internals.CONTROLLER, trial, result) == asha.STOP
    rungs.on_trial_complete(ray_internals.CONTROLLER, trial, result)
    return stopped


SUPERVISOR = "ray.dashboard.modules.job.job_supervisor:JobSupervisor"
CONTROLLER = "ray.tune.execution.tune_controller:TuneController"

PARTS = [
    Part(
        "ray._private.ray_constants:ENABLE_RAY_CLUSTERS_ENV_VAR",
        "LOOPBACK",
        "the variable has this name",
        lambda name: [name] == list(ray_internals.LOOPBACK),
    ),
    Part(
        "ray._private.services:get_node_ip_address",
        "LOOPBACK",
        "without clusters the address of a node is that of loopback",
        lambda _: keeps_to_loopback(import_module("ray._private.services")),
    ),
    Part(
        "ray/core/src/ray/raylet/raylet:prestart_worker_first_driver",
        "PRESTART",
        "the process that starts workers reads the variable",
        lambda name: f"RAY_{name}" == ray_internals.PRESTART,
    ),
    Part(
        "ray/core/src/ray/raylet/raylet:preload_python_modules",
        "PRELOAD",
        "the process that starts workers reads the variable",
        lambda name: f"RAY_{name}" == ray_internals.PRELOAD,
    ),
    Part(
        "ray/_raylet.so:SPT_NOENV",
        "TITLES",
        "what sets titles of processes reads the variable",
        lambda name: name == ray_internals.TITLES,
    ),
    Part(
        "ray.train.constants:RAY_TRAIN_COUNT_PREEMPTION_AS_FAILURE",
        "PREEMPTION",
        "the variable has this name",
        lambda name: name == ray_internals.PREEMPTION,
    ),
    Part(
        "ray.tune.experiment:Trial",
        "PREEMPTION",
        "with the variable a trial whose machine was preempted has failed",
        counts_preemption,
    ),
    Part(
        SUPERVISOR,
        "STOP_PATIENCE",
        "who stops a job reads the variable",
        in_order(f'"{ray_internals.STOP_PATIENCE}"'),
    ),
    Part(
        "ray._private.runtime_env.constants:RAY_JOB_CONFIG_JSON_ENV_VAR",
        "JOB",
        "the variable has this name",
        lambda name: name == ray_internals.JOB,
    ),
    Part(
        SUPERVISOR,
        "JOB",
        "the variable holds JSON with a runtime_env",
        in_order("RAY_JOB_CONFIG_JSON_ENV_VAR: json.dumps(", '"runtime_env":'),
    ),
    Part(
        "ray.core.generated.gcs_service_pb2:DESCRIPTOR",
        "CLUSTER_ID",
        "a head has this method, and it takes nothing",
        lambda file: takes_nothing(file.services_by_name["NodeInfoGcsService"]),
    ),
    Part(
        "ray._common.utils:get_default_system_temp_dir",
        "temporary_folder",
        "Ray takes RAY_TMPDIR, then TMPDIR, then /tmp",
        names_the_folder,
    ),
    Part(
        "ray._private.services:canonicalize_bootstrap_address",
        "head_address",
        "it leaves an address as it is",
        lambda _: ray_internals.head_address("192.0.2.7:6379") == "192.0.2.7:6379",
    ),
    Part(
        "ray._private.services:find_gcs_addresses.cache_clear",
        "head_address",
        "it can be called without arguments",
        lambda clear: clear() is None,
    ),
    Part(
        "ray._private.services:find_node_ids",
        "nodes_here",
        "it looks for the argument --node_id",
        in_order('"--node_id"'),
    ),
    Part(
        "ray._private.services:start_raylet",
        "nodes_here",
        "a node is started with the argument --node_id",
        in_order("--node_id="),
    ),
    Part(
        "ray._raylet:AuthenticationTokenLoader.instance",
        "token_header",
        "it gives the loader",
        lambda instance: type(instance()).__name__ == "AuthenticationTokenLoader",
    ),
    Part(
        "ray._raylet:AuthenticationTokenLoader.has_token",
        "token_header",
        "it has a parameter ignore_auth_mode",
        called_with("self", ignore_auth_mode=True),
    ),
    Part(
        "ray._raylet:AuthenticationTokenLoader.get_token_for_http_header",
        "token_header",
        "it needs no argument",
        called_with("self"),
    ),
    Part("ray._raylet:GcsClient", "head_client", "it is a class", inspect.isclass),
    Part(
        "ray._common.usage.usage_lib:get_cluster_metadata",
        "versions_of",
        "it takes a client and nothing else",
        called_with("client"),
    ),
    Part(
        "ray._common.usage.usage_lib:put_cluster_metadata",
        "versions_of",
        "a head stores ray_version and python_version",
        stores_versions,
    ),
    Part(
        "ray._raylet:InnerGcsClient.get_all_node_info",
        "nodes_of",
        "it has parameters timeout and state_filter",
        called_with("self", timeout=1.0, state_filter=0),
    ),
    Part(
        "ray.core.generated.gcs_pb2:GcsNodeInfo",
        "nodes_of",
        "a node has an id, and a state that may be ALIVE",
        lambda node: isinstance(node().node_id, bytes) and node().state == node.GcsNodeState.ALIVE,
    ),
    Part(
        "ray._common.constants:HEAD_NODE_RESOURCE_NAME",
        "is_head",
        "the head has a resource of this name",
        lambda name: ray_internals.is_head({"Resources": {name: 1.0}}),
    ),
    Part(
        "ray._private.services:start_monitor",
        "autoscaler_file",
        "the autoscaler is started with --gcs-address= and --autoscaling-config=",
        starts_the_autoscaler,
    ),
    Part(
        "ray._private.authentication.http_token_authentication:format_authentication_http_error",
        "is_invalid_token",
        "the text for status 403 has the word invalid, that for 401 has not",
        tells_tokens_apart,
    ),
    Part(
        "ray.tune.execution.class_cache:ENV_VARS_TO_PROPAGATE",
        "withhold_credentials",
        "Tune hands the variables on that this set names, and no others",
        hands_on_what_the_set_names,
    ),
    Part(
        "ray.tune.execution.class_cache:_ActorClassCache",
        "take_any_worker",
        "without these variables Tune's workers have an environment that holds none",
        asks_for_no_environment,
    ),
    Part(
        CONTROLLER,
        "spare_starting_workers",
        "it gives idle workers in one place",
        keeps_what_starts,
    ),
    Part(
        f"{CONTROLLER}._maybe_reuse_cached_actor",
        "spare_starting_workers",
        "it takes what is idle, and ends what the trial had",
        in_order(
            "trial in self._resetting_trials", "trial in self._trial_to_actor", "_remove_actor"
        ),
    ),
    Part(
        "ray.air.execution._internal:RayActorManager.is_actor_started",
        "spare_starting_workers",
        "it tells workers under way from those that wait for room",
        called_with("self", "tracked_actor"),
    ),
    Part(
        "ray._private.worker:shutdown",
        "end_private_cluster",
        "it disconnects, and ends processes of `_global_node` alone",
        in_order(
            "disconnect(", "if _global_node is not None:", "_global_node.kill_all_processes("
        ),
    ),
    Part(
        "ray._private.node:Node.kill_all_processes",
        "end_private_cluster",
        "it ends processes without waiting for them",
        called_with("self", check_alive=False, allow_graceful=False),
    ),
    Part(
        f"{CONTROLLER}.get_live_trials", "live_trials", "it needs no argument", called_with("self")
    ),
    Part(
        "ray.tune.experiment:Trial",
        "actor_of",
        "temporary_state.ray_actor is the actor",
        has_an_actor,
    ),
    Part(
        "ray._private.state:actors",
        "node_of_worker",
        "it takes the id of an actor",
        called_with("0123"),
    ),
    Part(
        "ray._private.state:GlobalState._gen_actor_info",
        "node_of_worker",
        "what is known of an actor has the node in its address",
        in_order('"Address": {', '"NodeID": binary_to_hex(actor_table_data.address.node_id)'),
    ),
    Part(
        "ray:exceptions",
        "node_of_worker",
        "errors of an actor name it in their texts",
        names_the_actor,
    ),
    Part(
        "ray.tune.experiment:Trial",
        "forget_results",
        "results are in last_result, metric_analysis and metric_n_steps of run_metadata",
        forgets,
    ),
    Part(
        "ray.tune.schedulers:ASHAScheduler",
        "CONTROLLER",
        "its hooks do not look at the controller",
        judges_stand_ins,
    ),
    Part(
        "ray.tune.schedulers:ASHAScheduler",
        "asha_trial",
        "its hooks read the id of a trial and nothing else",
        judges_stand_ins,
    ),
    Part(
        f"{CONTROLLER}._process_trial_result",
        HOOKS,
        "a result goes to the scheduler, the searcher and the callbacks, in this order",
        in_order("_scheduler_alg.on_trial_", "_search_alg.on_trial_", "_callbacks.on_trial_"),
    ),
    Part(
        f"{CONTROLLER}._on_training_result",
        HOOKS,
        "the scheduler's decision is carried out after that",
        in_order("_process_trial_results(", "_maybe_execute_queued_decision("),
    ),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.name}-{part.user}")
def test_ray_has_what_we_use(part):
    if said := problem(part):
        pytest.fail(said, pytrace=False)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{part.name}-{part.user}")
def test_what_is_gone_is_named_with_its_user_and_where_to_look(part, monkeypatch):
    if "/" in part.home:
        part = replace(part, name=f"{part.name}_of_another_release")
    else:
        path = part.name.partition(":")[2]
        monkeypatch.delattr(import_module(part.home), path.partition(".")[0], raising=False)
    said = problem(part)
    assert f"has no {part.name} as we need it (AttributeError" in said
    assert f"Needed: {part.needed}." in said and f"Used by: {part.user}" in said
    assert f"Look at: {part.home.replace('.', '/')} in Ray's repository" in said


def test_what_has_changed_is_named(monkeypatch):
    monkeypatch.setattr("ray._common.constants.HEAD_NODE_RESOURCE_NAME", "node:first")
    [part] = [part for part in PARTS if part.user == "is_head"]
    assert "is there, but has changed" in problem(part)


def test_no_release_is_allowed_beyond_the_one_that_is_tested():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    [pin] = [line.removeprefix("ray==") for line in lines if line.startswith("ray==")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [bound] = [Requirement(text) for text in project["dependencies"] if text.startswith("ray[")]
    major, minor, *_ = Version(pin).release
    assert pin in bound.specifier
    assert f"{major}.{minor + 1}.0" not in bound.specifier
    assert f"{major + 1}.0.0" not in bound.specifier


def test_everything_in_the_file_has_a_case():
    own = {
        name
        for name, thing in vars(ray_internals).items()
        if getattr(thing, "__module__", ray_internals.__name__) == ray_internals.__name__
        and not name.startswith("_")
        and not inspect.ismodule(thing)
    }
    assert own - {"TYPE_CHECKING"} == {part.user for part in PARTS if "/" not in part.user}
