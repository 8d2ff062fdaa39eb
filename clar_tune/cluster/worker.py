"""A Ray actor that does assignments, one batch per step; it is reused for many."""

import faulthandler
import signal
import sys
import threading
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import ray
import torch
from ray import tune

from clar_tune.graphs import Graph, apply_variants
from clar_tune.search import (
    TIME_LIMIT,
    Assignment,
    BrokenProcess,
    Failure,
    Job,
    Outcome,
    OutOfTime,
    Work,
    failed,
    out_of_time,
    perform,
)
from clar_tune.training import (
    CONTEXT,
    Form,
    claim,
    form_of,
    make_ready,
    release_memory,
    warm_up,
)

GRACE = 10.0
"""Seconds after which a worker that does not heed its time limit ends itself."""

FETCH = 600.0
"""Seconds after which a graph that does not arrive counts as lost."""

KEPT_GRAPHS = 2
"""Graphs whose tensors a worker keeps: studies are served graph by graph."""

KEPT_VARIANTS = 4
"""Variants of each of them that a worker keeps: conditions are served in turn."""


class Worker(tune.Trainable):
    """Trains what its jobs say; a training that fails is a result, not an error of Ray's."""

    def setup(
        self,
        config: dict[str, Any],
        graphs: Mapping[str, ray.ObjectRef[Graph]] | None = None,
        gpus: float = 0.0,
        context: int = 0,
    ) -> None:
        """Keep references to the graphs; none is fetched before it is needed."""
        warm_up()
        self._graphs = graphs or {}
        self._loaded: dict[str, dict[Hashable, tuple[Graph, Form]]] = {}
        self._out_of_memory = False
        given: Assignment = config["assignment"]
        on_gpu = gpus and given.jobs[0].spec.device != "cpu"
        share = 1.0 if given.alone else gpus
        self._device = claim(share, context or CONTEXT) if on_gpu else torch.device("cpu")
        self.reset_config(config)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Begin another assignment."""
        self._free_memory()
        assignment: Assignment = new_config["assignment"]
        self._work = Work(assignment)
        self._specs = {job.spec.backbone: job.spec for job in assignment.jobs}
        return True

    def step(self) -> dict[str, Any]:
        """Do the next batch of the assignment."""
        self._make_ready()
        return {"batch": self._work.batch(self._train), "node": _node_id()}

    def _make_ready(self) -> None:
        """Load programs before any time is taken; where that cannot be, the worker is lost."""
        for spec in self._specs.values():
            wrong = make_ready(spec)
            if wrong:
                raise BrokenProcess(f"{spec.method}: {wrong}")

    def _train(self, job: Job, index: int, ends: float) -> Outcome:
        """Do one training until its time is over.

        A graph that does not arrive is a fault of the cluster's, and raises, as does whatever
        tells that this process went bad: the driver takes this worker for lost and hands the
        assignment to another.
        """
        self._free_memory()
        if self._device.type != job.spec.device:
            raise BrokenProcess(f"torch sees no {job.spec.device} here, which the training is for")
        outcome = self._outcome(job, index, self._fetched(job), ends)
        self._out_of_memory = isinstance(outcome, Failure) and outcome.kind == "memory"
        return outcome

    def _free_memory(self) -> None:
        """What a failed training held is free only now that its traceback is gone."""
        if self._out_of_memory:
            release_memory()
            self._out_of_memory = False

    def _outcome(self, job: Job, index: int, plain: Graph | None, ends: float) -> Outcome:
        try:
            graph, form = self._graph(job, plain)
        except Exception as error:  # a variant may need more memory than there is
            return failed(index, error)
        try:
            with _time_limit(ends - time.monotonic()):
                return perform(job, index, graph, form)
        except OutOfTime:  # between the end of the training and the end of the block
            return out_of_time(index)

    def _fetched(self, job: Job) -> Graph | None:
        """The graph of a job as it is shared, unless its tensors are here already."""
        if _identity(job) in self._loaded.get(job.spec.graph, {}):
            return None
        shared: Graph = ray.get(self._graphs[job.spec.graph], timeout=FETCH)
        return shared

    def _graph(self, job: Job, plain: Graph | None) -> tuple[Graph, Form]:
        """The graph of a job, varied as its condition says."""
        variants = self._loaded.pop(job.spec.graph, {})
        identity = _identity(job)
        if plain is None:
            found = variants.pop(identity)
        else:
            graph = apply_variants(plain, job.variant, job.seed)
            found = graph, form_of(graph, job.spec.engine, self._device)
        variants[identity] = found  # what was used last stands last
        self._loaded[job.spec.graph] = variants
        _forget(variants, KEPT_VARIANTS)
        _forget(self._loaded, KEPT_GRAPHS)
        return found


def _node_id() -> str:
    """The machine that this process is on; asked outside Ray, it would start one."""
    return ray.get_runtime_context().get_node_id() if ray.is_initialized() else ""


def _identity(job: Job) -> Hashable:
    """Equal for jobs that train on the same variant of a graph, in the same form."""
    return (job.spec.engine, job.seed, *sorted(job.variant.items()))


def _forget(kept: dict[Any, Any], most: int) -> None:
    """All but what was used last."""
    for oldest in list(kept)[:-most]:
        del kept[oldest]


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`OutOfTime` in the block after some seconds.

    What does not heed the exception, because it hangs in foreign code or swallows it, ends
    with its process a little later; the driver then knows why.
    """
    seconds = max(seconds, 0.001)
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=sys.__stderr__ or 2)
    main = threading.current_thread() is threading.main_thread()
    if main:
        before = signal.signal(signal.SIGALRM, _expire)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if main:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()


def _expire(number: int, frame: FrameType | None) -> None:
    raise OutOfTime(TIME_LIMIT)
