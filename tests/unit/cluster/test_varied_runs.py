"""Runs whose conditions vary the graph, from the plan to the store and back."""

import random
from dataclasses import replace

import pytest
import torch
from support.simulation import Memory, plan_from, pretend, scheduler_for, work
from support.varied_spaces import DROPPED, FILTERED

from clar_tune.cluster.worker import KEPT_GRAPHS, KEPT_VARIANTS, Worker
from clar_tune.graphs import varied_hash
from clar_tune.search.assignment import Assignment
from clar_tune.search.jobs import Failure, TrainingResult

# Without Ray.


def test_jobs_carry_the_variant_of_their_study():
    jobs = []

    def noted(job, index):
        jobs.append(job)
        return pretend(job, index)

    scheduler = scheduler_for(plan_from(DROPPED), Memory())
    work(scheduler, noted)
    assert scheduler.state == "finished"
    found = {(job.spec.method, job.purpose, job.variant["drop_edges"]) for job in jobs}
    assert found == {
        (method, purpose, rate)
        for method, purpose in [("gcn", "final"), ("gcn+clar", "repeat"), ("gcn+clar", "final")]
        for rate in (0, 0.4, 0.8)
    }
    assert {job.spec.condition for job in jobs if job.variant["drop_edges"] == 0.4} == {
        "drop_edges=0.4"
    }


@pytest.mark.parametrize("cut", [5, 17, 30])
def test_a_varied_run_that_is_cut_off_goes_on_as_it_would_have(cut):
    whole, parted = Memory(), Memory()
    plan = plan_from(DROPPED)
    work(scheduler_for(plan, whole))
    work(scheduler_for(plan, parted), events=cut, order=random.Random(cut))
    work(scheduler_for(plan, parted))
    assert whole.numbers() == parted.numbers()


def test_low_errors_win_where_the_metric_is_an_error():
    def error(job, index):
        done = pretend(job, index)
        record = replace(done.record, metric="mse", val_score=1.0 + done.record.val_score)
        return replace(done, record=record)

    scheduler = scheduler_for(plan_from(FILTERED, trials=4), Memory())
    work(scheduler, error)
    for study in scheduler.studies:
        assert study.metric == "mse"
        full = [t for t in study.trials.values() if t.repeats == 2]
        if study.plan.has_search:
            assert study.winner.trial == min(full, key=lambda t: t.val_score).trial


@pytest.fixture
def worker(tiny_graph, monkeypatch) -> Worker:
    """A worker outside of Ray that can see some graphs."""
    monkeypatch.setattr("clar_tune.cluster.worker.ray.get", lambda graph, timeout: graph)
    bare = Worker.__new__(Worker)
    bare._graphs = {name: replace(tiny_graph, name=name) for name in ("tiny", "other", "third")}
    bare._loaded, bare._device, bare._out_of_memory = {}, torch.device("cpu"), False
    return bare


def graph_of(worker: Worker, job):
    return worker._graph(job, worker._fetched(job))


def job(graph: str = "tiny", seed: int = 0, **variant):
    plan = plan_from(DROPPED, methods=("gcn",))
    jobs = []
    work(scheduler_for(plan, Memory()), lambda j, i: (jobs.append(j), pretend(j, i))[1])
    spec = replace(jobs[0].spec, graph=graph, max_epochs=2)
    return replace(jobs[0], specs=(spec,), seed=seed, variant=variant)


def test_a_worker_varies_a_graph_once_and_keeps_what_it_used_last(worker):
    one, again, other, seeded = (
        graph_of(worker, each)
        for each in (
            job(drop_edges=0.5),
            job(drop_edges=0.5),
            job(drop_edges=0.25),
            job(seed=1, drop_edges=0.5),
        )
    )
    assert one[0] is again[0] and one[1] is again[1]
    hashes = {graph.hash for graph, _ in (one, other, seeded)}
    assert len(hashes) == 3
    assert one[1].adjacency.nnz == one[0].edges.shape[1] == 8
    for rate in range(10):
        graph_of(worker, job(drop_edges=rate / 10))
        graph_of(worker, job(drop_edges=0.5))
    assert graph_of(worker, job(drop_edges=0.5))[0] is one[0]
    assert len(worker._loaded["tiny"]) == KEPT_VARIANTS
    graph_of(worker, job("other")), graph_of(worker, job("tiny")), graph_of(worker, job("third"))
    assert list(worker._loaded) == ["tiny", "third"] and KEPT_GRAPHS == 2


def test_a_worker_trains_on_the_varied_graph(worker):
    asked = job(drop_edges=0.5)
    plain = worker._graphs["tiny"].hash
    spec = replace(asked.spec, graph_hash=varied_hash(plain, {"drop_edges": 0.5}, 0))
    worker.reset_config({"assignment": Assignment((replace(asked, specs=(spec,)),))})
    ((_, outcome),) = worker.step()["batch"]
    assert isinstance(outcome, TrainingResult)
    assert outcome.spec.graph_hash == graph_of(worker, asked)[0].hash != plain


def test_a_variant_that_cannot_be_made_is_a_failure_and_no_lost_worker(worker, monkeypatch):
    def starved(*_):
        raise MemoryError("no room for the eigenvectors")

    monkeypatch.setattr("clar_tune.cluster.worker.apply_variants", starved)
    worker.reset_config({"assignment": Assignment((job(drop_edges=0.5),))})
    ((_, outcome),) = worker.step()["batch"]
    assert isinstance(outcome, Failure) and outcome.kind == "memory"


# With Ray.
