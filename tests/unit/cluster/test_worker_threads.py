"""A worker that does several trainings at once, each in a thread."""

import threading
from dataclasses import replace
from functools import cache

import torch
from support.simulation import plan_from

from clar_tune.cluster import worker as workers
from clar_tune.cluster.worker import Worker
from clar_tune.engine import scope
from clar_tune.graphs.loading import load
from clar_tune.search import TIME_LIMIT, Assignment, Failure, Job, TrainingResult

ENDLESS = {"max_epochs": 10**9, "patience": 10**9}


@cache
def graph():
    return load("csbm-homophily")


def job(
    study: int = 0, *, engine: str = "native", timeout: float = 600.0, lr=0.01, **rules
) -> Job:
    """Two finals of gcn, on two processors."""
    plan = plan_from(engine=engine).studies[0]
    params = {**plan.method.complete({}), "hidden": 8, "lr": lr, "dropout": 0.5}
    specs = tuple(
        replace(
            plan.spec(params, "final", number, graph().hash),
            **{"threads": 2, "max_epochs": 30, **rules},
        )
        for number in range(2)
    )
    return Job(
        study=study, trial=0, purpose="final", first=0, specs=specs, variant={}, seed=0,
        timeout=timeout,
    )  # fmt: skip


def everything(monkeypatch, *jobs: Job):
    """All that a worker outside of Ray makes of some jobs, by job and number."""
    monkeypatch.setattr("clar_tune.cluster.worker.ray.get", lambda graph, timeout: graph)
    made = Worker.__new__(Worker)
    made.setup({"assignment": Assignment(jobs)}, graphs={graph().name: graph()})
    done = []
    while batch := made.step()["batch"]:
        done += batch
    return {(place, outcome.index): outcome for place, outcome in done}


def numbers(outcome: TrainingResult):
    record = replace(outcome.record, seconds=0.0)
    return record, outcome.test_score, outcome.correct


def test_trainings_give_the_same_bits_alone_and_beside_each_other(monkeypatch):
    alone = everything(monkeypatch, job(threads=1))
    beside = everything(monkeypatch, job())
    assert list(alone) == list(beside) == [(0, 0), (0, 1)]
    for place, outcome in beside.items():
        other = replace(outcome.spec, threads=1)
        assert other == alone[place].spec
        key = replace(outcome.record, key=other.key)
        assert numbers(replace(outcome, record=key)) == numbers(alone[place])


def test_a_time_limit_acts_on_one_of_two(monkeypatch):
    done = everything(monkeypatch, job(timeout=0.2, **ENDLESS), job(1))
    assert done.pop((0, 0)) == Failure(index=0, kind="time", text=TIME_LIMIT)
    assert [place for place, _ in done] == [1, 1]
    assert all(isinstance(outcome, TrainingResult) for outcome in done.values())


def test_one_that_diverges_or_has_no_memory_leaves_the_other_alone(monkeypatch):
    met, perform = threading.Barrier(2), workers.perform

    def performed(job, *rest):
        met.wait(60)
        return perform(job, *rest)

    def form_of(*_):
        raise MemoryError("no room for the graph")

    monkeypatch.setattr(workers, "perform", performed)
    good, bad = job(1), job(lr=1e30)
    halves = [replace(one, specs=one.specs[:1]) for one in (bad, good)]
    done = everything(monkeypatch, *halves)
    assert done[0, 0].kind == "diverged" and isinstance(done[1, 0], TrainingResult)
    monkeypatch.setattr(workers, "form_of", form_of)
    assert {one.kind for one in everything(monkeypatch, *halves).values()} == {"memory"}


def test_torch_trains_one_at_a_time_in_the_main_thread(monkeypatch):
    seen, perform = [], workers.perform

    def performed(*given):
        seen.append(threading.current_thread())
        return perform(*given)

    monkeypatch.setattr(workers, "perform", performed)
    mixed = everything(monkeypatch, job(engine="torch", max_epochs=2), job(1, max_epochs=2))
    assert len(mixed) == 4 and set(seen) == {threading.main_thread()}


def test_on_a_large_graph_threads_share_the_kernels_of_one_training(monkeypatch):
    monkeypatch.setattr(scope, "LARGE", 1)
    seen, perform = [], workers.perform

    def performed(*given):
        seen.append(threading.current_thread())
        return perform(*given)

    monkeypatch.setattr(workers, "perform", performed)
    monkeypatch.setattr(workers, "make_ready", lambda spec, entries: None)
    everything(monkeypatch, replace(job(), specs=job().specs[:1], timeout=0.001))
    assert set(seen) == {threading.main_thread()}


def test_the_threads_of_torch_are_what_they_were(monkeypatch):
    before = torch.get_num_threads()
    everything(monkeypatch, job(max_epochs=2))
    assert torch.get_num_threads() == before
