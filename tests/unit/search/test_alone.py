"""A training that asks a share of a GPU for too much memory is tried once on a whole one."""

from dataclasses import replace

import pytest
from support.simulation import ARMS, Memory, plan_from, pretend, scheduler_for, work

from clar_tune.cluster.capacity import Capacity
from clar_tune.cluster.resources import Node, Resources
from clar_tune.search.assignment import Assignment
from clar_tune.search.jobs import Failure


def large(job) -> bool:
    """Every third trial, and its finals."""
    return job.trial % 3 == 2 and job.spec.regularizer == "clar"


def too_large(job, index):
    return Failure(index=index, kind="memory", text="CUDA out of memory")


def worked(train, device="cuda", gpus=0.25, memory=None):
    memory, jobs = memory or Memory(), []

    def noted(job, index):
        jobs.append((job, index))
        return train(job, index)

    scheduler = scheduler_for(plan_from().on(device), memory, gpus=gpus)
    work(scheduler, noted)
    return scheduler, memory, jobs


def test_a_share_that_is_too_small_costs_no_trial():
    def train(job, index):
        return too_large(job, index) if large(job) and not job.alone else pretend(job, index)

    scheduler, memory, jobs = worked(train)
    undisturbed = worked(pretend)[1]
    assert scheduler.state == "finished"
    assert memory.numbers() == undisturbed.numbers()
    again = [row for row in memory.trials.values() if row.notes]
    assert again and all("tried again alone on a GPU (CUDA out" in row.notes[0] for row in again)
    assert all(row.retries == 0 for row in again)
    once = [(job.study, job.trial, job.purpose, job.arm, i) for job, i in jobs if large(job)]
    refused = [job for job, _ in jobs if large(job) and not job.alone]
    assert len({(job.study, job.trial) for job in refused}) == len(refused) > 0
    assert len(once) == len(set(once)) + len(refused)


def test_what_is_too_large_for_a_whole_device_failed_by_its_parameters():
    _, memory, jobs = worked(lambda j, i: too_large(j, i) if large(j) else pretend(j, i))
    failed = [row for row in memory.trials.values() if row.state == "failed"]
    assert failed and {row.failure for row in failed} == {"memory"}
    tries = [(job.study, job.trial, job.alone) for job, _ in jobs if large(job)]
    assert len(tries) == len(set(tries)) == 2 * len(failed)


@pytest.mark.parametrize(("device", "gpus"), [("cpu", 0.0), ("cpu", 0.25), ("cuda", 1.0)])
def test_on_processors_and_whole_devices_nothing_is_tried_twice(device, gpus):
    def train(job, index):
        return too_large(job, index) if large(job) else pretend(job, index)

    _, memory, jobs = worked(train, device, gpus)
    assert not any(job.alone for job, _ in jobs)
    assert [row for row in memory.trials.values() if row.state == "failed"]


def test_a_final_is_tried_again_too_and_given_up_then():
    def train(job, index):
        return (
            too_large(job, index) if job.purpose == "final" and index == 1 else pretend(job, index)
        )

    scheduler, memory, jobs = worked(train)
    assert scheduler.state == "incomplete"
    finals = [
        (job.study, job.arm, job.alone) for job, i in jobs if job.purpose == "final" and i == 1
    ]
    arms = [(n, arm) for n in range(4) for arm in ["on", *scheduler.plan.studies[n].arms]]
    assert len(arms) == ARMS
    assert sorted(finals) == sorted((*arm, alone) for arm in arms for alone in (False, True))
    assert not [row for row in memory.finals if row.repeat == 1]


def test_other_failures_are_no_matter_of_memory():
    def train(job, index):
        return Failure(index=index, kind="error", text="ValueError")

    _, _, jobs = worked(train)
    assert not any(job.alone for job, _ in jobs)


def test_others_leave_a_device_to_a_job_that_waits_for_it():
    scheduler = scheduler_for(plan_from().on("cuda"), Memory(), gpus=0.5, workers=2)
    first, second = scheduler.assign("a"), scheduler.assign("b")
    for ticket in "ab":
        scheduler.started(ticket)
    (job,) = first.jobs
    scheduler.receive("a", [(0, too_large(job, job.first))])
    again = scheduler.assign("c")
    assert again.alone and again.jobs[0].task == job.task
    assert scheduler.assign("d") is None  # or a share would be taken whenever one is free
    scheduler.receive("b", [(0, pretend(second.jobs[0], second.jobs[0].first))])
    assert scheduler.assign("d") is None
    scheduler.started("c")
    assert not scheduler.assign("d").alone


def test_a_job_that_is_alone_asks_for_a_whole_device():
    capacity = Capacity([Node(cpus=8, gpus=1)], Resources(1, 0.25), {"g": 100})
    assert capacity.asked("g").request == {"CPU": 1, "GPU": 0.25, "memory": 100}
    assert capacity.asked("g", alone=True).request == {"CPU": 1, "GPU": 1, "memory": 100}


def test_nothing_goes_with_it():
    scheduler = scheduler_for(plan_from().on("cuda"), Memory(), gpus=0.5)
    (job,) = scheduler.assign("a").jobs
    assert Assignment((replace(job, alone=True),)).alone
