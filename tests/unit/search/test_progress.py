"""Progress in numbers, and as people see it."""

import io

import pytest
from support.simulation import ARMS, Memory, plan_from, pretend, scheduler_for, trained, work

from clar_tune.cli.live import WAITING, Board, Lines, Silent, progress_of, view_on
from clar_tune.cluster import driver, gpu_devices
from clar_tune.cluster.resources import Node


def test_an_untouched_run_has_everything_before_it():
    progress = progress_of(scheduler_for(plan_from(), Memory()))
    assert progress.total("trials") == 10 + 10 + 1 + 1
    assert (progress.confirmed, progress.total("done"), progress.seconds_left) == (0, 0, None)


def test_a_finished_run_has_nothing_left():
    scheduler = scheduler_for(plan_from(), Memory())
    work(scheduler)
    progress = progress_of(scheduler)
    assert progress.confirmed == 4 and progress.seconds_left == 0
    assert progress.total("done") == 22 and progress.total("finals") == ARMS * 3
    assert progress.studies[1].best is not None


def test_time_left_shrinks_while_work_is_done():
    scheduler = scheduler_for(plan_from(), Memory(), workers=2)
    left = []

    def train(job, index):
        left.append(progress_of(scheduler).seconds_left)
        return pretend(job, index)

    work(scheduler, train)
    known = [seconds for seconds in left if seconds is not None]
    assert known[0] > known[-1] and min(known) >= 0


def test_without_a_terminal_there_are_plain_lines():
    scheduler = scheduler_for(plan_from(), Memory())
    stream = io.StringIO()
    view = view_on(stream, quiet=False)
    assert type(view) is Lines
    view(scheduler)
    work(scheduler)
    view(scheduler)
    first, last = stream.getvalue().splitlines()
    assert "0/4 studies confirmed" in first and "4/4 studies confirmed, 22/22 trials" in last
    assert "\x1b" not in stream.getvalue()


def test_a_drain_is_announced_once():
    scheduler = scheduler_for(plan_from(), Memory())
    stream = io.StringIO()
    view = Lines(stream)
    scheduler.limits.draining = True
    view(scheduler)
    view(scheduler)
    assert stream.getvalue().count("interrupted") == 1


def test_machines_that_are_missing_are_told_of_at_once():
    scheduler = scheduler_for(plan_from(), Memory())
    stream = io.StringIO()
    view = Lines(stream)
    view(scheduler)
    scheduler.limits.waiting = True
    view(scheduler)
    view(scheduler)
    scheduler.limits.waiting = False
    view(scheduler)
    first, second, third = stream.getvalue().splitlines()
    assert [text.endswith(WAITING) for text in (first, second, third)] == [False, True, False]


@pytest.mark.parametrize(("gpus", "told"), [(0.25, 1), (0.0, 0)])
def test_trials_that_asked_for_a_gpu_and_got_none_are_told_of_once(gpus, told, monkeypatch):
    monkeypatch.setattr(gpu_devices, "_seen", lambda nodes: {"here": []})
    plan = plan_from(gpus=gpus)
    scheduler = scheduler_for(plan, Memory())
    machine = Node(cpus=1, gpus=1, id="here")
    for _ in range(2):  # as drivers look that go on with a run
        driver._devices(plan, [machine], gpus, scheduler.limits)
    stream = io.StringIO()
    view = Lines(stream)
    work(scheduler)
    view(scheduler)
    view(scheduler)
    assert stream.getvalue().count("torch sees none") == told


def test_on_a_terminal_there_is_a_table():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    scheduler = scheduler_for(plan_from(), Memory())
    stream = Terminal()
    with view_on(stream, quiet=False) as view:
        assert type(view) is Board
        view(scheduler)
    assert "csbm-homophily" in stream.getvalue() and "best val" in stream.getvalue()


def test_quiet_shows_nothing():
    stream = io.StringIO()
    view = view_on(stream, quiet=True)
    assert type(view) is Silent
    view(scheduler_for(plan_from(), Memory()))
    assert not stream.getvalue()


FILTERED = """
graphs: [csbm-homophily]
methods: [gcn, sage]
protocol: whole-graph
conditions: [{sweep: {filter: [low-pass]}}]
search: {trials: 2, repeats: 1, sampler: random, pruning: false}
finals: 1
settings: {tuned: {shared: {lr: {low: 0.01, high: 0.1}}}}
"""


def test_of_errors_the_lowest_is_the_best_study():
    def error(job, index):
        return trained(job, index, 0.2 if job.spec.method == "gcn" else 0.7)

    scheduler = scheduler_for(plan_from(FILTERED), Memory())
    work(scheduler, error)
    assert progress_of(scheduler).best.method == "gcn"
