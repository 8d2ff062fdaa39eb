"""Hosts that break workers: what is retried where, and when a host is left out."""

import itertools

import pytest
from support.simulation import ARMS, Memory, hashes_of, next_job, plan_from, pretend, trained

from clar_tune.cluster.asha import Asha
from clar_tune.search.hosts import LOST_IN_A_ROW, Hosts
from clar_tune.search.limits import Limits
from clar_tune.search.scheduler import MAX_RETRIES, Scheduler

GRAPH = "csbm-homophily"


def lost(hosts: Hosts, host: str, trial: int, since: float) -> None:
    hosts.lose(host, (0, trial, None), since, since + 1, "broken")


def test_a_host_that_breaks_the_workers_of_several_trials_in_a_row_is_left_out():
    hosts = Hosts()
    for trial in range(LOST_IN_A_ROW):
        assert not hosts.left_out
        lost(hosts, "bad", trial, since=10 * trial)
        lost(hosts, "good", 0, since=10 * trial)
    assert hosts.left_out == {"bad": "broken"}


def test_a_host_is_left_out_before_it_alone_has_failed_a_trial():
    assert LOST_IN_A_ROW <= MAX_RETRIES


def test_a_training_that_is_finished_acquits_its_host():
    hosts = Hosts()
    for trial in range(10 * LOST_IN_A_ROW):
        lost(hosts, "it", trial, since=10 * trial)
        if trial % 2:
            hosts.finish("it")
    assert not hosts.left_out


def test_workers_lost_together_with_their_machine_count_as_one():
    hosts = Hosts()
    for trial in range(8):
        hosts.lose("gone", (0, trial, None), since=trial, now=10.0 + trial / 100, cause="gone")
    assert not hosts.left_out


def test_a_trial_is_kept_away_from_where_it_was_lost_while_another_host_can_hold_it():
    able = {"a", "b"}
    hosts = Hosts(lambda graph: able if graph == GRAPH else {"a"})
    lost(hosts, "a", 0, since=0)
    assert hosts.avoided(GRAPH, (0, 0, None)) == {"a"}
    assert hosts.avoided(GRAPH, (0, 1, None)) == set()
    assert hosts.avoided("large", (0, 0, None)) == set()  # b cannot hold it
    lost(hosts, "b", 0, since=2)
    assert hosts.avoided(GRAPH, (0, 0, None)) == set()


@pytest.fixture
def cluster():
    """A scheduler with hosts ``bad`` and ``good``, its rows, its hosts, and a clock."""
    able, clock, memory = {"bad", "good"}, itertools.count(), Memory()
    plan = plan_from()
    limits = Limits(workers=2, now=lambda: float(next(clock)))
    hosts = Hosts(lambda graph: able)
    return Scheduler(plan, hashes_of(plan), memory.append, Asha, limits, hosts), memory, able


def test_a_poisoned_host_among_two_fails_no_trial(cluster):
    """It is always free, so that it gets every job that is not kept away from it."""
    scheduler, memory, _ = cluster
    losses = 0
    for ticket in map(str, itertools.count()):
        job = next_job(scheduler, ticket)
        if job is None:
            break
        scheduler.started(ticket)
        if "bad" not in job.avoid:
            losses += 1
            scheduler.lose(ticket, "CUDA error", "bad")
            continue
        index = job.first
        while scheduler.receive(ticket, [(0, pretend(job, index))], "good"):
            index += 1
    assert scheduler.state == "finished"
    assert losses == LOST_IN_A_ROW
    assert list(scheduler.hosts.left_out) == ["bad"]
    rows = memory.trials.values()
    assert {row.state for row in rows} == {"complete", "pruned"}
    assert sum(row.retries for row in rows) == losses
    for graph in scheduler.plan.graphs:
        assert len(memory.of(graph, "gcn+clar")) == 10
    assert len(memory.finals) == ARMS * 3


def test_finals_lost_in_a_row_count_one_by_one(cluster):
    scheduler, _, able = cluster
    able.discard("good")
    for number in range(LOST_IN_A_ROW):
        ticket = str(number)
        job = next_job(scheduler, ticket)
        while job.purpose != "final" or job.task in scheduler.hosts._lost_on:
            scheduler.live.pop(ticket)
            job = next_job(scheduler, ticket)
        scheduler.started(ticket)
        scheduler.lose(ticket, "CUDA error", "bad")
    assert list(scheduler.hosts.left_out) == ["bad"]


def test_a_model_that_crashes_fails_its_own_trials_and_no_host_while_others_train(cluster):
    scheduler, memory, able = cluster
    able.discard("good")
    for ticket in map(str, itertools.count()):
        job = next_job(scheduler, ticket)
        if job is None:
            break
        scheduler.started(ticket)
        if job.trial == 3 and job.purpose == "repeat":
            scheduler.lose(ticket, "killed", "bad")
            continue
        index = job.first
        while scheduler.receive(ticket, [(0, pretend(job, index))], "bad"):
            index += 1
    assert not scheduler.hosts.left_out
    failed = {(row.trial, row.failure) for row in memory.trials.values() if row.failure}
    assert failed == {(3, "lost")}


def test_what_waits_for_a_host_that_is_gone_goes_to_the_one_that_lost_it(cluster):
    scheduler, _, able = cluster
    first = next_job(scheduler, "first")
    scheduler.started("first")
    scheduler.lose("first", "CUDA error", "bad")
    again = next_job(scheduler, "again")
    assert (again.task, again.avoid) == (first.task, {"bad"})
    scheduler.free_stranded()
    assert "again" in scheduler.live  # good is there
    able.discard("good")
    scheduler.free_stranded()
    assert "again" not in scheduler.live
    job = next_job(scheduler, "at last")
    assert (job.task, job.avoid) == (first.task, frozenset())
    scheduler.free_stranded()
    assert "at last" in scheduler.live
    assert not scheduler.receive(
        "again", [(0, trained(again, again.first, 0.5))], "late"
    )  # ignored


def test_what_has_begun_is_not_handed_out_anew(cluster):
    scheduler, _, able = cluster
    next_job(scheduler, "first")
    scheduler.lose("first", "CUDA error", "bad")
    next_job(scheduler, "again")
    scheduler.started("again")
    able.discard("good")
    scheduler.free_stranded()
    assert "again" in scheduler.live
