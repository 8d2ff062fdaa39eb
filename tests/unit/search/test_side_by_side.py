"""Trainings of one assignment that run beside each other in threads."""

import threading
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st
from support.simulation import Memory, next_job, plan_from, pretend, scheduler_for

from clar_tune.search.assignment import BATCH, Assignment, Work
from clar_tune.search.jobs import Failure


@pytest.fixture(scope="module")
def job():
    """A job of several trainings."""
    made = next_job(scheduler_for(plan_from(methods=("gcn+clar",), pruning=False), Memory()), "a")
    assert len(made.specs) > 2
    return made


def failure(index: int) -> Failure:
    return Failure(index=index, kind="diverged", text="no number")


def test_what_ends_first_comes_back_in_its_order(job):
    second_done = threading.Event()

    def train(job, index, ends):
        if index == job.first:
            assert second_done.wait(60)
        if index == job.first + 1:
            second_done.set()
        return pretend(job, index)

    batch = Work(Assignment((job,)), lambda: 0.0).batch(train, 2)
    assert [outcome.index for _, outcome in batch] == list(range(job.first, job.last))


def test_as_many_as_asked_for_run_at_once_and_no_more(job):
    met, lock, now, most = threading.Barrier(2), threading.Lock(), [0], [0]

    def train(job, index, ends):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        if index < job.first + 2:
            met.wait(60)
        with lock:
            now[0] -= 1
        return pretend(job, index)

    Work(Assignment((job,)), lambda: 0.0).batch(train, 2)
    assert most == [2]


def test_alone_a_training_runs_in_the_main_thread_which_signals_reach(job):
    seen = set()

    def train(job, index, ends):
        seen.add(threading.current_thread())
        return pretend(job, index)

    Work(Assignment((job,)), lambda: 0.0).batch(train)
    assert seen == {threading.main_thread()}


def test_what_was_trained_beside_a_failure_of_the_same_job_is_dropped(job):
    beside_done = threading.Event()

    def train(job, index, ends):
        if index == job.first:
            assert beside_done.wait(60)
            return failure(index)
        beside_done.set()
        return pretend(job, index)

    work = Work(Assignment((job, replace(job, study=1))), lambda: 0.0)
    batch = [(place, type(outcome).__name__) for place, outcome in work.batch(train, 2)]
    assert batch[0] == (0, "Failure") and {place for place, _ in batch[1:]} <= {1}


def test_a_lost_process_is_told_once_the_others_have_ended(job):
    begun, ended = threading.Event(), []

    def train(job, index, ends):
        if index == job.first:
            assert begun.wait(60)
            raise OSError("it went bad")
        begun.set()
        ended.append(index)
        return pretend(job, index)

    with pytest.raises(OSError, match="it went bad"):
        Work(Assignment((job,)), lambda: 0.0).batch(train, 2)
    assert ended


def test_a_batch_closes_once_training_took_long_enough(job):
    clock = iter([0, 0, *[BATCH] * 10]).__next__
    work = Work(Assignment((job,)), clock)
    first = work.batch(lambda job, index, ends: pretend(job, index), 2)
    assert 1 <= len(first) <= 2
    rest = []
    while batch := work.batch(lambda job, index, ends: pretend(job, index), 2):
        rest += batch
        work._now = lambda: 0.0
    indices = [outcome.index for _, outcome in (*first, *rest)]
    assert indices == list(range(job.first, job.last))


@settings(max_examples=30)
@given(failing=st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4))), beside=st.integers(2, 4))
def test_the_same_comes_back_alone_and_side_by_side(job, failing, beside):
    jobs = tuple(replace(job, study=number) for number in range(4))

    def train(job, index, ends):
        bad = (job.study, index - job.first) in failing
        return failure(index) if bad else pretend(job, index)

    def everything(beside: int):
        work, done = Work(Assignment(jobs), lambda: 0.0), []
        while batch := work.batch(train, beside):
            done += batch
        return [(place, type(outcome), outcome.index) for place, outcome in done]

    assert everything(beside) == everything(1)
