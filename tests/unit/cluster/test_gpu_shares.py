"""Shares of GPUs: logical ones on this machine, and a stand-in for what torch is asked."""

import gc
import weakref
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from support.simulation import hashes_of, next_job, plan_from

from clar_tune.cluster import worker as worker_module
from clar_tune.cluster.asha import Asha
from clar_tune.cluster.worker import Worker
from clar_tune.search.assignment import Assignment
from clar_tune.search.jobs import Failure
from clar_tune.search.process_errors import BrokenProcess
from clar_tune.search.scheduler import Scheduler


@pytest.fixture
def job():
    rows, plan = [], plan_from()
    return next_job(Scheduler(plan, hashes_of(plan), rows.extend, Asha), "ticket")


@pytest.fixture
def cuda(monkeypatch):
    """A stand-in for torch's CUDA: what it is asked for is written down."""
    asked = []
    device = SimpleNamespace(total_memory=16 * 2**30)
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda *_, **__: None)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: device)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "set_per_process_memory_fraction", lambda *given: asked.append(given)
    )
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: asked.append("emptied"))
    return asked


def begun(job, gpus=0.0):
    """A worker outside Ray, which has begun with a job."""
    made = Worker.__new__(Worker)
    made.setup({"assignment": Assignment((job,))}, graphs={}, gpus=gpus)
    return made


def on_gpu(job, **changes):
    specs = tuple(replace(spec, device="cuda") for spec in job.specs)
    return replace(job, specs=specs, **changes)


def only_outcome(worker):
    ((place, outcome),) = worker.step()["batch"]
    assert place == 0
    return outcome


def test_a_worker_keeps_to_its_share_of_the_devices_memory(cuda, job):
    begun(on_gpu(job), 0.25)
    assert cuda == [(0.25 - 0.5 / 16, torch.device("cuda"))]  # half a GiB is its context


def test_a_job_that_is_to_be_alone_has_the_whole_device(cuda, job):
    begun(on_gpu(job, alone=True), 0.25)
    assert cuda == [(1 - 0.5 / 16, torch.device("cuda"))]


def test_trainings_for_processors_stay_there_whatever_share_they_have(cuda, job):
    assert begun(job, 0.25)._device == torch.device("cpu")
    assert cuda == []


def test_a_worker_that_cannot_train_where_it_is_told_is_lost(job, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BrokenProcess, match="torch sees no cuda here"):
        begun(on_gpu(job), 0.25).step()


def test_a_worker_without_a_share_leaves_the_device_alone(cuda, job):
    assert begun(job)._device == torch.device("cpu")
    assert cuda == []


def test_what_a_training_held_that_ran_out_of_memory_is_free_for_the_next(cuda, job, monkeypatch):
    held = []

    def greedy(job, index, graph, tensors, seconds):
        block = torch.ones(10)
        held.append(weakref.ref(block))
        raise torch.OutOfMemoryError("CUDA out of memory")

    def performed(*given):
        try:
            greedy(*given)
        except torch.OutOfMemoryError as error:
            kept.append(error)  # as a traceback does that somebody keeps
            return Failure(index=0, kind="memory", text=str(error))

    kept = []
    made = begun(job)
    monkeypatch.setattr(made, "_fetched", lambda job: None)
    monkeypatch.setattr(made, "_graph", lambda job, plain: (None, None))
    monkeypatch.setattr(worker_module, "perform", performed)
    assert only_outcome(made).kind == "memory"
    kept.clear()
    cuda.clear()
    gc.disable()
    try:
        assert made.reset_config({"assignment": Assignment((job,))})
    finally:
        gc.enable()
    assert cuda == ["emptied"]
    assert held[0]() is None
    made.reset_config({"assignment": Assignment((job,))})
    assert cuda == ["emptied"]  # once is enough


def test_a_graph_that_does_not_arrive_is_no_fault_of_the_configuration(job, monkeypatch):
    def lost(ref, timeout):
        raise worker_module.ray.exceptions.GetTimeoutError("not within the time")

    made = begun(job)
    made._graphs = {job.spec.graph: None}
    monkeypatch.setattr(worker_module.ray, "get", lost)
    with pytest.raises(worker_module.ray.exceptions.GetTimeoutError):
        made.step()


def test_a_variant_that_does_not_fit_is_a_result(job, monkeypatch):
    def too_large(*given):
        raise MemoryError

    made = begun(job)
    monkeypatch.setattr(made, "_fetched", lambda job: object())
    monkeypatch.setattr(worker_module, "apply_variants", too_large)
    assert only_outcome(made).kind == "memory"
