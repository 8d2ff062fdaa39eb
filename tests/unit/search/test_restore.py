"""Restoring believes what is stored: no decision is made a second time."""

from collections import Counter
from dataclasses import replace

import pytest
from support.simulation import Memory, hashes_of, plan_from, scheduler_for, work

from clar_tune.cluster.asha import Asha
from clar_tune.search.scheduler import Scheduler


class Stern(Asha):
    """Would stop every trial at its first rung, as a Ray that decides otherwise may do."""

    def __call__(self, trial: int, repeats: int, mean: float) -> bool:
        super().__call__(trial, repeats, mean)
        return False


class Mild(Asha):
    """Would stop none."""

    def __call__(self, trial: int, repeats: int, mean: float) -> bool:
        super().__call__(trial, repeats, mean)
        return True


def restored(memory: Memory, make_judge=Asha, **options) -> Scheduler:
    plan = plan_from(**options)
    scheduler = Scheduler(plan, hashes_of(plan), memory.append, make_judge)
    scheduler.restore(list(memory.trials.values()), iter(memory.scores()), memory.finals)
    return scheduler


@pytest.fixture
def finished() -> Memory:
    memory = Memory()
    work(scheduler_for(plan_from(), memory))
    states = Counter(row.state for row in memory.trials.values())
    assert states["pruned"] and states["complete"]
    return memory


def assert_keys_once(memory: Memory) -> None:
    keys = Counter(row.key for row in [*memory.repeats, *memory.finals])
    assert set(keys.values()) == {1}


def extended(memory: Memory, make_judge=Asha) -> Scheduler:
    scheduler = restored(memory, make_judge, trials=14, first_trials=10)
    work(scheduler)
    assert scheduler.state == "finished"
    assert len(memory.of("csbm-homophily", "gcn+clar")) == 14
    return scheduler


def test_rows_that_are_stored_twice_change_nothing(finished):
    """As after a write whose answer was lost."""
    before, rows = dict(finished.trials), list(finished.repeats)
    usual = Memory(dict(before), list(rows), list(finished.finals))
    extended(usual)
    finished.repeats = [*rows, *rows[len(rows) // 2 :]]
    extended(finished)
    assert {name: finished.trials[name] for name in before} == before
    finished.repeats = [*rows, *finished.repeats[len(rows) + len(rows) - len(rows) // 2 :]]
    assert_keys_once(finished)
    assert finished.numbers() == usual.numbers()


@pytest.mark.parametrize("judge", [Stern, Mild])
def test_a_judge_that_would_decide_otherwise_changes_nothing_that_is_stored(finished, judge):
    before = dict(finished.trials)
    scheduler = restored(finished, judge)
    assert finished.trials == before
    assert scheduler.state == "finished"
    extended(finished, judge)
    assert {name: finished.trials[name] for name in before} == before
    assert_keys_once(finished)


@pytest.mark.parametrize("judge", [Stern, Mild])
@pytest.mark.parametrize("repeats", [1, 2])
def test_a_trial_that_was_let_on_at_a_rung_goes_on(judge, repeats):
    memory = Memory()
    work(scheduler_for(plan_from(methods=("gcn+clar",)), memory), events=2 * repeats)
    (name,) = [name for name, row in memory.trials.items() if row.state == "running"]
    assert len(memory.repeats) == repeats
    assert memory.trials[name].repeats == 1  # at the rung, of which its row tells
    scheduler = restored(memory, judge, methods=("gcn+clar",))
    assert memory.trials[name].state == "running"
    assert scheduler.assign("a").jobs[0].first == repeats


def test_restored_rungs_decide_what_comes_as_the_first_ones_would_have():
    whole = Memory()
    total = work(scheduler_for(plan_from(), whole))
    for cut in range(3, total, 11):
        memory = Memory()
        work(scheduler_for(plan_from(), memory), events=cut)
        work(restored(memory))
        assert memory.numbers() == whole.numbers(), f"cut after {cut} events"


def test_a_trial_whose_row_was_lost_is_asked_again(finished):
    name = next(name for name, row in finished.trials.items() if row.trial == 4)
    gone = finished.trials.pop(name)
    finished.repeats = [r for r in finished.repeats if (*r.study, r.trial) != name]
    scheduler = restored(finished)
    work(scheduler)
    assert scheduler.state == "finished"
    again = finished.trials[name]
    assert again.state != "running" and again.study == gone.study
    assert len(finished.of(gone.graph, gone.method)) == 10


def test_repeats_of_a_trial_that_is_not_stored_are_passed_over(finished):
    row = finished.repeats[-1]
    finished.repeats.append(replace(row, trial=77, repeat=0))
    before = finished.numbers()
    assert restored(finished).state == "finished"
    assert finished.numbers()[0] == before[0]


def test_a_study_that_ended_keeps_its_winner_and_asks_its_sampler_nothing(finished, monkeypatch):
    asked = []
    monkeypatch.setattr("clar_tune.search.sampler.Sampler.start", lambda *a: asked.append(a))
    scheduler = restored(finished)
    assert not asked
    assert all(list(study.trials) == [study.winner.trial] for study in scheduler.studies)
