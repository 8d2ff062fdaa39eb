"""Jobs that go out together, and the batches in which their results come back."""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st
from support.simulation import (
    SPACE,
    Memory,
    hashes_of,
    next_job,
    plan_from,
    pretend,
    scheduler_for,
    trained,
    work,
)

from clar_tune.cluster.asha import Asha
from clar_tune.search.assignment import BATCH, FILL, MOST_JOBS, Assignment, Work
from clar_tune.search.jobs import Failure
from clar_tune.search.limits import Limits
from clar_tune.search.scheduler import MAX_RETRIES, Scheduler

MANY = SPACE.replace(
    "[gcn, gcn+clar]", "[gcn, gcn+clar, sage+clar, cheby+clar, gat+clar]"
).replace("trials: 10", "trials: 5")
GRAPH = "csbm-homophily"


def quick(job, index):
    """A hundredth of a second."""
    return trained(job, index, pretend(job, index).record.val_score, seconds=0.01)


def clock_of(draw: random.Random):
    """A worker's clock by which batches are of any size."""
    return itertools.accumulate(draw.choice([0.0, 0.1, BATCH]) for _ in itertools.count()).__next__


def by(*steps: float):
    """A clock that tells these times, one after the other."""
    return iter(steps).__next__


def batch_of(given: Assignment, train=quick):
    """All that there is to do, in one batch."""
    return [
        (place, train(job, number))
        for place, job in enumerate(given.jobs)
        for number in range(job.first, job.last)
    ]


def packed(scheduler: Scheduler) -> Assignment:
    """The first assignment with trials of several studies."""
    for ticket in map("before {}".format, itertools.count()):
        given = scheduler.assign(ticket)
        if len(given.jobs) > 1 and given.jobs[0].purpose == "repeat":
            return given
        scheduler.receive(ticket, batch_of(given))
    raise AssertionError


@pytest.fixture
def memory():
    return Memory()


@pytest.fixture
def scheduler(memory):
    return scheduler_for(plan_from(MANY), memory)


def ticket_of(scheduler: Scheduler) -> str:
    (ticket,) = scheduler.live
    return ticket


# What a worker does.


def test_a_batch_closes_once_training_took_long_enough(scheduler):
    job = next_job(scheduler_for(plan_from(methods=("gcn+clar",), pruning=False), Memory()), "a")
    work = Work(Assignment((job,)), by(0, 0, 0.5, 1.9, BATCH, 10, 10 + BATCH))
    first = work.batch(lambda job, index, ends: pretend(job, index))
    assert [(place, done.index) for place, done in first] == [(0, 0), (0, 1), (0, 2)]
    (second,) = work.batch(lambda job, index, ends: pretend(job, index))
    assert second[1].index == 3


def test_a_batch_ends_with_the_assignment_and_each_job_has_its_own_time(scheduler):
    jobs = packed(scheduler).jobs
    ends = []

    def train(job, index, end):
        ends.append(end)
        return quick(job, index)

    ticks = itertools.accumulate(itertools.repeat(0.001))
    done = Work(Assignment(jobs), ticks.__next__).batch(train)
    assert [place for place, _ in done] == list(range(len(jobs)))
    assert ends == sorted(set(ends))


def test_a_failure_ends_its_batch_and_its_job_and_comes_with_what_was_before_it(scheduler):
    jobs = packed(scheduler).jobs

    def train(job, index, ends):
        if job is jobs[1]:
            return Failure(index=index, kind="diverged", text="no number")
        return quick(job, index)

    work = Work(Assignment(jobs), lambda: 0.0)
    batch = work.batch(train)
    assert [(place, type(done).__name__) for place, done in batch] == [
        (0, "TrainingResult"),
        (1, "Failure"),
    ]
    assert [place for place, _ in work.batch(train)] == list(range(2, len(jobs)))


# What goes out together.


def test_nothing_goes_out_together_before_a_training_on_its_graph_was_measured(scheduler):
    assert len(scheduler.assign("a").jobs) == 1
    assert len(scheduler.assign("b").jobs) == 1


def test_short_jobs_of_a_graph_go_out_together_none_of_a_study_twice(memory):
    seen, plan = [], plan_from(MANY)

    class Seen(Scheduler):
        def assign(self, ticket):
            given = super().assign(ticket)
            seen.extend([given] if given else [])
            return given

    scheduler = Seen(plan, hashes_of(plan), memory.append, Asha, Limits())
    work(scheduler, quick)
    assert scheduler.state == "finished"
    for given_ in seen:
        assert len({(job.spec.graph, job.purpose) for job in given_.jobs}) == 1
        studies = Counter(job.study for job in given_.jobs)
        assert given_.jobs[0].purpose == "final" or set(studies.values()) == {1}
        assert len(given_.jobs) <= MOST_JOBS
    assert max(len(given_.jobs) for given_ in seen if given_.jobs[0].purpose == "repeat") == 4
    assert max(len(given_.jobs) for given_ in seen if given_.jobs[0].purpose == "final") > 1


@pytest.mark.parametrize(("seconds", "most"), [(FILL / 2, 2), (FILL, 1), (10 * BATCH, 1)])
def test_long_jobs_go_out_alone(memory, seconds, most):
    def lasting(job, index):
        return trained(job, index, pretend(job, index).record.val_score, seconds)

    sizes = []
    scheduler = scheduler_for(plan_from(MANY), memory)
    for number in itertools.count():
        given = scheduler.assign(str(number))
        if given is None:
            break
        sizes.append(len(given.jobs))
        scheduler.receive(str(number), batch_of(given, lasting))
    assert max(sizes) == most


@pytest.mark.parametrize(("engine", "most"), [("torch", 1), ("native", 2)])
def test_a_worker_gets_long_jobs_for_all_trainings_that_it_does_side_by_side(memory, engine, most):
    def lasting(job, index):
        return trained(job, index, pretend(job, index).record.val_score, 10 * BATCH)

    sizes = []
    scheduler = scheduler_for(plan_from(MANY, engine=engine, threads=2), memory)
    for number in itertools.count():
        given = scheduler.assign(str(number))
        if given is None:
            break
        sizes.append(len(given.jobs))
        scheduler.receive(str(number), batch_of(given, lasting))
    assert max(sizes) == most


def test_others_get_their_share_of_what_is_short(memory):
    scheduler = scheduler_for(plan_from(MANY), memory)
    packed(scheduler)
    scheduler.limits.workers = 4
    assert len(scheduler.assign("one of four").jobs) == 1


# What comes back.


def test_what_comes_back_together_is_written_in_one_go_before_anything_follows(memory):
    plan, written = plan_from(MANY), []

    def write(rows):
        written.append(list(rows))
        memory.append(rows)

    scheduler = Scheduler(plan, hashes_of(plan), write, Asha, Limits())
    jobs = packed(scheduler).jobs
    written.clear()
    assert not scheduler.receive(ticket_of(scheduler), batch_of(Assignment(jobs)))
    (rows,) = written
    assert len(rows) == 2 * len(jobs)  # of each the repeat, and what was decided
    keys = {row.key for row in memory.repeats}
    assert {job.spec.key for job in jobs} <= keys


def test_trials_that_are_asked_together_are_written_in_one_go(memory):
    plan, written = plan_from(MANY), []

    def write(rows):
        written.append(len(rows))
        memory.append(rows)

    scheduler = Scheduler(plan, hashes_of(plan), write, Asha, Limits())
    jobs = packed(scheduler).jobs
    assert written[-1] == len(jobs) == 4


def test_what_a_drain_leaves_undone_is_done_by_the_next_driver(memory):
    whole = Memory()
    work(scheduler_for(plan_from(MANY), whole), quick)
    scheduler = scheduler_for(plan_from(MANY), memory)
    jobs = packed(scheduler).jobs
    scheduler.limits.draining = True
    assert not scheduler.receive(ticket_of(scheduler), [(0, quick(jobs[0], jobs[0].first))])
    assert not scheduler.live and scheduler.state == "interrupted"
    work(scheduler_for(plan_from(MANY), memory), quick)
    assert memory.numbers() == whole.numbers()


def test_a_lost_assignment_is_done_again_job_by_job_without_using_budget(memory):
    scheduler = scheduler_for(plan_from(MANY), memory)
    jobs = packed(scheduler).jobs
    ticket = ticket_of(scheduler)
    scheduler.started(ticket)
    assert scheduler.receive(ticket, [(0, quick(jobs[0], jobs[0].first))])
    scheduler.lose(ticket, "killed", "host")
    again = [next_job(scheduler, str(number)) for number in range(len(jobs))]  # the first goes on
    retried = [job for job in again if memory.of(GRAPH, job.spec.method)[job.trial].retries]
    assert {job.task for job in retried} == {job.task for job in jobs[1:]}
    assert not scheduler.hosts.left_out
    for number, job in enumerate(again):
        scheduler.receive(str(number), batch_of(Assignment((job,))))
    work(scheduler, quick)
    assert scheduler.state == "finished"
    assert {row.retries for row in memory.trials.values()} == {0, 1}
    assert not [row for row in memory.trials.values() if row.state == "failed"]


def test_a_job_that_breaks_its_worker_every_time_fails_alone(memory):
    scheduler = scheduler_for(plan_from(MANY), memory)
    bad = packed(scheduler).jobs[2].task
    scheduler.lose(ticket_of(scheduler), "killed")
    for number in itertools.count():
        given = scheduler.assign(str(number))
        if given is None:
            break
        if bad in [job.task for job in given.jobs]:
            scheduler.lose(str(number), "killed")
            continue
        scheduler.receive(str(number), batch_of(given))
    failed = [row for row in memory.trials.values() if row.state == "failed"]
    assert [(row.failure, row.retries) for row in failed] == [("lost", MAX_RETRIES + 1)]


def test_a_worker_that_is_silent_too_long_is_told_by_the_time_of_its_longest_job(memory):
    clock = [0.0]
    scheduler = scheduler_for(plan_from(MANY), memory, now=lambda: clock[0])
    jobs = packed(scheduler).jobs
    ticket = ticket_of(scheduler)
    scheduler.started(ticket)
    longest = max(job.timeout for job in jobs)
    clock[0] = longest + BATCH + 9
    assert not scheduler.overdue(10.0)
    clock[0] += 2
    assert scheduler.overdue(10.0) == {ticket}
    scheduler.lose(ticket, "gone")  # nobody knows which of them was stuck
    assert not [row for row in memory.trials.values() if row.state == "failed"]


def test_a_worker_that_begins_its_assignment_anew_changes_nothing(memory):
    usual = Memory()
    work(scheduler_for(plan_from(MANY), usual), quick)
    scheduler = scheduler_for(plan_from(MANY), memory)
    for number in itertools.count():
        given = scheduler.assign(str(number))
        if given is None:
            break
        whole = batch_of(given)
        half = whole[: len(whole) // 2]
        if half:
            scheduler.receive(str(number), half)
        scheduler.receive(str(number), whole)
    assert scheduler.state == "finished" and memory.numbers() == usual.numbers()


# Whatever is put together, and wherever a run is cut off.


@pytest.fixture(scope="module")
def whole():
    memory = Memory()
    work(scheduler_for(plan_from(MANY), memory))  # every job alone: trainings take a second
    return memory.numbers()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 60), max_size=4), short=st.booleans()
)
def test_with_one_worker_neither_batches_nor_cuts_change_anything(whole, seed, cuts, short):
    draw, memory = random.Random(seed), Memory()

    def train(job, index):
        seconds = 0.01 if short else draw.choice([0.001, 0.1, 0.4, 5.0])
        return trained(job, index, pretend(job, index).record.val_score, seconds)

    for cut in (*cuts, None):
        scheduler = scheduler_for(plan_from(MANY), memory)
        work(scheduler, train, events=cut, clock=clock_of(draw))
    assert scheduler.state == "finished"
    assert memory.numbers() == whole


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    workers=st.integers(2, 5),
    cuts=st.lists(st.integers(0, 60), max_size=3),
)
def test_with_several_workers_budgets_are_exact_and_no_training_is_done_twice(seed, workers, cuts):
    draw, memory = random.Random(seed), Memory()
    for cut in (*cuts, None):
        scheduler = scheduler_for(plan_from(MANY), memory, workers=workers)
        work(scheduler, quick, events=cut, order=draw, clock=clock_of(draw))
    assert scheduler.state == "finished"
    assert set(Counter(row.key for row in [*memory.repeats, *memory.finals]).values()) == {1}
    for study in scheduler.studies:
        columns = study.plan.columns
        states = [row.state for row in memory.of(columns.graph, columns.method)]
        assert len(states) == study.budget and "running" not in states
