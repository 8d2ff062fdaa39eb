"""Drives a run from its first job to its last, on Ray, into a store."""

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clar_tune.cluster.capacity import Capacity, Growth
from clar_tune.cluster.environment import prepare
from clar_tune.cluster.native_programs import compiling_programs, engine_remarks, unable_to_run
from clar_tune.cluster.ray_internals import take_any_worker
from clar_tune.cluster.resources import Node, Resources
from clar_tune.graphs import Graph, check_split, load
from clar_tune.records import to_stored
from clar_tune.rows import LeftOut
from clar_tune.search import Hosts, Limits, Scheduler, Size, needs, plan_columns
from clar_tune.space import Plan
from clar_tune.store import RunWriter, Store

if TYPE_CHECKING:
    from clar_tune.cluster.gpu_devices import Devices


class View(Protocol):
    """Shows the state of a run."""

    def __call__(self, scheduler: Scheduler) -> None:
        """Show it if it is time for that; called several times a second."""

    def close(self, scheduler: Scheduler) -> None:
        """Show its last state."""

    def say(self, text: str) -> None:
        """Tell the user something that is not to be missed."""

    def note(self, text: str) -> None:
        """Tell what is going on, to those who watch."""


MOST_AHEAD = 16
"""Processors up to which workers are started with a private cluster, each some 300 MB."""

REFRESH = 3.0
"""Seconds after which the machines of a cluster are counted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Where, and for how long, a driver works; nothing here decides a number."""

    address: str = "local"
    cpus: float | None = None
    gpus: float | None = None
    """What a trial gets; ``None``: what it had when the run began, in a new run 1 and 0."""
    max_concurrent: int | None = None
    time_budget: float | None = None
    data: Path | None = None
    take_over: bool = False
    """Whether the run's last driver is known to be dead, so that nobody waits for it."""
    single_driver: bool = False
    """Whether the store may be one that cannot keep out a driver that was overtaken."""

    def resources(self) -> Resources:
        """What a trial gets; what no trial can have is refused."""
        return Resources(
            1.0 if self.cpus is None else self.cpus, 0.0 if self.gpus is None else self.gpus
        )

    def workers_ahead(self) -> bool:
        """Whether a worker for each processor is what its trials will need, and not too many."""
        processors, each = os.cpu_count() or 1, self.resources()
        most = self.max_concurrent or processors
        return each == Resources(1.0, 0.0) and processors <= min(most, MOST_AHEAD)

    def limits(self) -> Limits:
        """How fast a driver works that begins now, and until when."""
        deadline = None if self.time_budget is None else time.monotonic() + self.time_budget
        return Limits(deadline=deadline, gpus=self.resources().gpus)


def load_graphs(
    plan: Plan, data: Path | None, names: Collection[str] | None = None
) -> dict[str, Graph]:
    """Graphs of a plan, all or some; a missing, damaged or unfit one fails before any work."""
    chosen = plan.graphs if names is None else names
    graphs = {name: load(name, plan.settings.preprocessing, data) for name in chosen}
    for name, protocol in {(s.columns.graph, s.columns.protocol) for s in plan.studies}:
        if name in graphs:
            check_split(graphs[name], protocol, plan.options.outer_test)
    return graphs


def drive(
    store: Store,
    open_run: Callable[[], RunWriter],
    plan: Plan,
    graphs: dict[str, Graph],
    launch: Launch,
    view: View,
    limits: Limits,
) -> Scheduler:
    """Do what is left of a run, as long as its limits allows.

    The run is opened once a cluster answers: until then the store stays as it is, from then
    on its state is stored whatever happens.
    """
    began = time.monotonic()
    began_on = plan.options.device
    modules = _own_modules(plan) if launch.address != "local" else []
    resources = launch.resources()
    memory = needs(plan, graphs.values(), resources.gpus)
    sizes = {name: Size.of(graph) for name, graph in graphs.items()}
    with _scratch() as scratch, ExitStack() as stack:
        # Where trainings are done is known here, so that compiling need not wait for Ray.
        ahead = launch.address == "local" and not resources.gpus

        def begin_compiling() -> Callable[[], None]:
            return stack.enter_context(compiling_programs(plan, sizes, view.say, view.note))

        finish_compiling = begin_compiling() if ahead else None
        nodes = stack.enter_context(_cluster(launch, *modules))
        import ray

        capacity = Capacity(
            nodes, resources, memory, launch.max_concurrent, _growth(launch.address)
        )
        if capacity.unmeasured:
            limits.remark(
                "trials ask for no memory, as the autoscaler does not know how much its machines "
                f"have: {', '.join(capacity.unmeasured)}"
            )
        devices = _devices(plan, nodes, resources.gpus, limits)
        if devices:
            plan = plan.on(devices.device)
        unfit = unable_to_run(plan, nodes) if launch.address != "local" else {}
        (finish_compiling or begin_compiling())()
        for text in engine_remarks(plan):
            limits.remark(text)
        limits.workers = max(1, capacity.workers())
        writer, state = open_run(), "interrupted"
        before = writer.row.seconds
        try:
            if devices and devices.device != began_on:
                writer.update(**plan_columns(plan))
            # As arrays in the object store graphs are shared by all workers of a machine.
            hashes = {name: graph.hash for name, graph in graphs.items()}
            shared = {name: ray.put(graphs.pop(name)) for name in list(graphs)}
            scheduler = _restored(store, writer, plan, hashes, limits, Hosts(capacity.able))
            watch = Watch(scheduler, capacity) if launch.address != "local" else None
            scheduler.hosts.left_out.update({**(devices.blind if devices else {}), **unfit})
            capacity.context = devices.context if devices else 0
            _search(scheduler, writer, shared, capacity, scratch, view, watch)
            state = scheduler.state
        finally:
            spent = time.monotonic() - began
            writer.close(state=state, ended=datetime.now(UTC), seconds=before + spent)
    return scheduler


def _scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder that is there before the cluster and goes after it.

    Workers that just start write into it even when Tune has ended. Those of a cluster that
    stays may do so later still: what they leave behind must not end a run with an error.
    """
    return tempfile.TemporaryDirectory(prefix="clar-tune-", ignore_cleanup_errors=True)


@contextmanager
def _cluster(launch: Launch, *modules: Path) -> Iterator[list[Any]]:
    """A cluster's machines; Ray is loaded only now, and what needs it while the cluster starts."""
    prepare(launch.address)
    from clar_tune.cluster.connection import connected

    ahead = launch.workers_ahead()
    with connected(launch.address, modules, ahead=ahead, meanwhile=_load) as nodes:
        if launch.address == "local":
            take_any_worker()
        yield nodes


def _devices(plan: Plan, nodes: Sequence[Node], share: float, limits: Limits) -> "Devices | None":
    """Where a run trains that has, or had, a share of GPUs; what is to be said of it is said."""
    if not share and plan.options.device is None:
        return None
    from clar_tune.cluster.gpu_devices import resolve_devices

    devices = resolve_devices(plan, nodes, share)
    for text in devices.remarks:
        limits.remark(text)
    return devices


def _load() -> None:
    """Import what a search needs."""
    import scipy.stats  # noqa: F401  its first proposals are made by it

    import clar_tune.cluster.asha
    import clar_tune.cluster.tuner  # noqa: F401


def _own_modules(plan: Plan) -> list[Path]:
    from clar_tune.cluster.packaging import modules_of

    return modules_of(study.method for study in plan.studies)


def _growth(address: str) -> Growth:
    """What the cluster's autoscaler may add; a private cluster has none."""
    if address == "local":
        return Growth()
    from clar_tune.cluster.autoscaling import growth

    return growth()


class Watch:
    """Counts the machines of a cluster now and then, and tells the run how many there are."""

    def __init__(self, scheduler: Scheduler, capacity: Capacity) -> None:
        self._scheduler, self._capacity, self._next = scheduler, capacity, 0.0

    def __call__(self) -> None:
        """Look if it is time for that; an error says that machines were missing too long."""
        from clar_tune.cluster.connection import machines

        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + REFRESH
        graphs, limits = self._scheduler.graphs_at_work, self._scheduler.limits
        self._capacity.update(machines(), graphs)
        self._scheduler.free_stranded()
        limits.workers = max(1, self._capacity.workers(graphs))
        limits.waiting = self._capacity.waits_since is not None


def _restored(
    store: Store,
    writer: RunWriter,
    plan: Plan,
    hashes: Mapping[str, str],
    limits: Limits,
    hosts: Hosts,
) -> Scheduler:
    """The scheduler of a run, in the state that its stored rows tell."""
    from clar_tune.cluster.asha import Asha

    scheduler = Scheduler(plan, hashes, writer.append, Asha, limits, hosts)
    trials = store.trials(writer.name)
    if trials:
        scheduler.restore(trials, store.repeat_scores(writer.name), store.finals(writer.name))
    return scheduler


def _leave_out(scheduler: Scheduler, writer: RunWriter, capacity: Capacity) -> None:
    """Give no more jobs to machines that break workers; the store and the user hear of it."""
    broken = scheduler.hosts.left_out
    if broken.keys() == capacity.left_out.keys():
        return
    found = [
        LeftOut(host=node.name, node=node.id, since=_now(), cause=broken[node.id])
        for node in capacity.nodes
        if node.id in broken
    ]
    writer.update(left_out=[*writer.row.left_out, *map(to_stored, found)])
    for host in found:
        scheduler.limits.remark(str(host))
    capacity.leave_out(broken)
    scheduler.limits.workers = max(1, capacity.workers(scheduler.graphs_at_work))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _search(
    scheduler: Scheduler,
    writer: RunWriter,
    graphs: dict[str, Any],
    capacity: Capacity,
    scratch: str,
    view: View,
    watch: Watch | None,
) -> None:
    from clar_tune.cluster.tuner import search

    def tick() -> None:
        writer.tick()
        _leave_out(scheduler, writer, capacity)
        if watch is not None:
            watch()
        if writer.row.workers != scheduler.limits.workers:
            writer.update(workers=scheduler.limits.workers)
        with suppress(OSError):  # a terminal that is gone ends no run
            view(scheduler)

    search(scheduler, graphs, capacity, scratch, tick)
    with suppress(OSError):
        view.close(scheduler)
