"""A Ray actor that does assignments, one batch per step; it is reused for many."""

import threading
import time
from collections.abc import Hashable, Mapping
from typing import Any

import ray
import torch
from ray import tune

from clar_tune.cluster.time_limits import time_limit
from clar_tune.graphs import Graph, apply_variants, threads
from clar_tune.search import (
    Assignment,
    BrokenProcess,
    Failure,
    Job,
    Outcome,
    OutOfTime,
    Size,
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
    side_by_side,
    warm_up,
)

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
        self._work, self._one_at_a_time = Work(assignment), threading.Lock()
        self._jobs = assignment.jobs
        return True

    def step(self) -> dict[str, Any]:
        """Do the next batch of the assignment."""
        beside = min(map(self._make_ready, self._jobs))
        with threads(self._jobs[0].spec.threads):  # which no training changes for one beside it
            batch = self._work.batch(self._train, beside)
        return {"batch": batch, "node": _node_id()}

    def _make_ready(self, job: Job) -> int:
        """How many trainings like those of a job are done at once.

        Programs are loaded before any time is taken; where that cannot be, the worker is lost.
        """
        spec, entries = job.spec, self._stored(job)
        wrong = make_ready(spec, entries)
        if wrong:
            raise BrokenProcess(f"{spec.method}: {wrong}")
        return side_by_side(spec.engine, spec.backbone, spec.threads, entries)

    def _stored(self, job: Job) -> int:
        """Entries of a job's graph, where it matters how large that is."""
        if job.spec.threads == 1 or job.spec.engine == "torch":
            return 0
        plain: Graph = ray.get(self._graphs[job.spec.graph], timeout=FETCH)
        return Size.of(plain).varied(job.variant).stored

    def _train(self, job: Job, index: int, ends: float) -> Outcome:
        """Do one training until its time is over.

        A graph that does not arrive is a fault of the cluster's, and raises, as does whatever
        tells that this process went bad: the driver takes this worker for lost and hands the
        assignment to another.
        """
        if self._device.type != job.spec.device:
            raise BrokenProcess(f"torch sees no {job.spec.device} here, which the training is for")
        with self._one_at_a_time:  # those beside it may want the same graph
            self._free_memory()
            plain = self._fetched(job)
            try:
                graph, form = self._graph(job, plain)
            except Exception as error:  # a variant may need more memory than there is
                return self._noted(failed(index, error))
        return self._noted(_limited(job, index, graph, form, ends))

    def _noted(self, outcome: Outcome) -> Outcome:
        self._out_of_memory |= isinstance(outcome, Failure) and outcome.kind == "memory"
        return outcome

    def _free_memory(self) -> None:
        """What a failed training held is free only now that its traceback is gone."""
        if self._out_of_memory:
            release_memory()
            self._out_of_memory = False

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


def _limited(job: Job, index: int, graph: Graph, form: Form, ends: float) -> Outcome:
    seconds = ends - time.monotonic()
    try:
        with time_limit(seconds):
            return perform(job, index, graph, form, seconds)
    except OutOfTime:  # between the end of the training and the end of the block
        return out_of_time(index)


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
