"""A whole run in memory: budgets, order, pruning, confirmation, faults, and resuming."""

import random
from collections import Counter
from dataclasses import asdict

import pytest
from support.simulation import (
    ARMS,
    SPACE,
    Memory,
    next_job,
    plan_from,
    pretend,
    scheduler_for,
    trained,
    work,
)

from clar_tune.rows import RepeatRow
from clar_tune.search.jobs import Failure
from clar_tune.search.scheduler import MAX_RETRIES


def ran(memory: Memory | None = None, train=pretend, text: str = SPACE, **limits) -> Memory:
    memory = Memory() if memory is None else memory
    scheduler = scheduler_for(plan_from(text), memory, **limits)
    work(scheduler, train)
    assert scheduler.state == "finished"
    return memory


def test_budgets_are_exact():
    memory = ran(workers=3)
    for graph in ("csbm-homophily", "csbm-heterophily"):
        states = Counter(row.state for row in memory.of(graph, "gcn+clar"))
        assert states["complete"] + states["pruned"] == 10 and states["pruned"] > 0
        for method in ("gcn", "gcn+clar"):
            finals = [r for r in memory.finals if (r.graph, r.method) == (graph, method)]
            for arm in ("on", "off", "cross", "nl", "any") if method == "gcn+clar" else ("on",):
                assert sorted(r.repeat for r in finals if r.arm == arm) == [0, 1, 2]
    keys = [row.key for row in [*memory.repeats, *memory.finals]]
    assert len(keys) == len(set(keys))


def test_the_sampler_hears_the_truth_about_every_trial():
    memory, plan = Memory(), plan_from()
    scheduler = scheduler_for(plan, memory)
    samplers = {study.plan.columns.study: study._sampler for study in scheduler.studies}
    work(scheduler)
    searched = [study for study in plan.studies if study.has_search]
    assert searched
    for study in searched:
        heard = [t.state.name.lower() for t in samplers[study.columns.study]._study.trials]
        rows = memory.of(study.columns.graph, study.columns.method)
        assert heard == [row.state for row in sorted(rows, key=lambda row: row.trial)]
        assert {"pruned", "complete"} <= set(heard)


def test_a_study_with_nothing_to_search_goes_straight_to_its_finals():
    memory = ran()
    (row,) = memory.of("csbm-homophily", "gcn")
    assert (row.state, row.repeats, row.val_score) == ("complete", 0, None)
    assert not [r for r in memory.repeats if r.method == "gcn"]


def test_a_trial_is_written_before_it_trains():
    memory = Memory()
    scheduler = scheduler_for(plan_from(), memory)
    job = next_job(scheduler, "a")
    while job.purpose == "final":
        scheduler.receive("a", [(0, pretend(job, job.first))])
        job = next_job(scheduler, "a")
    assert memory.of(job.spec.graph, job.spec.method)[job.trial].state == "running"


def test_a_result_is_written_before_its_job_goes_on():
    seen = []
    memory = Memory()

    def train(job, index):
        mine = [r for r in memory.repeats if (r.graph, r.trial) == (job.spec.graph, job.trial)]
        if job.purpose == "repeat":
            seen.append(len(mine) == index)
        return pretend(job, index)

    ran(memory, train)
    assert seen and all(seen)


def test_a_worker_that_is_started_anew_behind_our_back_does_nothing_twice_for_the_store():
    usual, memory = ran(), Memory()
    scheduler = scheduler_for(plan_from(), memory)
    while (job := next_job(scheduler, "it")) is not None:
        indices = list(range(job.first, job.last))
        if job.last - job.first > 2:
            indices[2:2] = indices[:2]  # 0, 1, then from the start again: 0, 1, 2 …
        for index in indices:
            if not scheduler.receive("it", [(0, pretend(job, index))]):
                break
    assert scheduler.state == "finished"
    assert memory.numbers() == usual.numbers()


def test_all_trials_of_a_graph_meet_the_same_repeats_in_the_same_order():
    memory = ran(workers=3)
    seeds: dict[tuple[str, int], set[int]] = {}
    for row in memory.repeats:
        seeds.setdefault((row.graph, row.repeat), set()).add(row.split_seed)
    assert all(len(found) == 1 for found in seeds.values())
    for trial in memory.trials.values():
        own = [
            r.repeat
            for r in memory.repeats
            if (r.graph, r.method, r.trial) == (trial.graph, trial.method, trial.trial)
        ]
        assert own == list(range(trial.repeats))


def test_graphs_are_served_one_after_the_other_and_methods_side_by_side():
    text = SPACE.replace("[gcn, gcn+clar]", "[gcn+clar, sage+clar]")
    asked = []

    def train(job, index):
        if index == 0 and job.purpose == "repeat":
            asked.append((job.spec.graph, job.spec.method))
        return pretend(job, index)

    ran(train=train, text=text)
    first = [graph for graph, _ in asked[:20]]
    assert set(first) == {"csbm-homophily"}
    methods = [method for _, method in asked[:20]]
    assert methods == ["gcn+clar", "sage+clar"] * 10


def test_winners_are_confirmed_while_others_still_search():
    purposes = []

    def train(job, index):
        purposes.append((job.spec.graph, job.purpose))
        return pretend(job, index)

    ran(train=train)
    last_search = max(n for n, (_, purpose) in enumerate(purposes) if purpose == "repeat")
    first_final = min(n for n, (_, purpose) in enumerate(purposes) if purpose == "final")
    assert first_final < last_search


@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_cut_off_anywhere_and_resumed_keeps_all_rows_and_budgets(workers):
    draw = random.Random(workers)
    total = work(scheduler_for(plan_from(), Memory(), workers=workers))
    for _ in range(12):
        memory = Memory()
        for _ in range(3):
            before = [asdict(row) for row in [*memory.repeats, *memory.finals]]
            scheduler = scheduler_for(plan_from(), memory, workers=workers)
            work(scheduler, events=draw.randrange(total), order=draw)
            rows = [asdict(row) for row in [*memory.repeats, *memory.finals]]
            assert all(row in rows for row in before)
        scheduler = scheduler_for(plan_from(), memory, workers=workers)
        work(scheduler, order=draw)
        assert scheduler.state == "finished"
        keys = Counter(row.key for row in [*memory.repeats, *memory.finals])
        assert set(keys.values()) == {1}
        states = Counter(row.state for row in memory.of("csbm-homophily", "gcn+clar"))
        assert states["complete"] + states["pruned"] == 10
        assert len(memory.finals) >= ARMS * 3


def test_one_worker_cut_off_anywhere_ends_as_if_nothing_had_happened():
    whole = Memory()
    total = work(scheduler_for(plan_from(), whole))
    for cut in range(0, total, 7):
        memory = Memory()
        work(scheduler_for(plan_from(), memory), events=cut)
        work(scheduler_for(plan_from(), memory))
        assert memory.numbers() == whole.numbers(), f"cut after {cut} events"


def test_a_cut_between_the_last_repeat_and_the_end_of_its_trial_is_mended():
    memory = ran()
    ended = next(row for row in memory.trials.values() if row.state == "pruned")
    name = (ended.graph, ended.method, ended.condition, ended.search, ended.trial)
    from dataclasses import replace

    memory.trials[name] = replace(ended, state="running", repeats=0, val_score=None)
    scheduler_for(plan_from(), memory)
    assert memory.trials[name].state == "pruned"
    assert memory.trials[name].repeats == ended.repeats


def test_repeats_that_were_not_stored_are_trained_again():
    """On object storage a crash may flush the rows of trials, but not yet those of repeats."""
    memory = ran()
    whole = memory.numbers()
    row = max(memory.trials.values(), key=lambda row: row.repeats)
    last = [r for r in memory.repeats if (r.graph, r.trial) == (row.graph, row.trial)][-4:]
    memory.repeats = [repeat for repeat in memory.repeats if repeat not in last]
    again = scheduler_for(plan_from(), memory)
    assert memory.trials[row.study + (row.trial,)].state == "running"
    work(again)
    assert again.state == "finished" and memory.numbers() == whole


def test_an_interrupt_during_the_last_final_changes_nothing():
    memory = Memory()
    scheduler = scheduler_for(plan_from(), memory)

    def train(job, index):
        scheduler.limits.draining = len(memory.finals) == ARMS * 3 - 1
        return pretend(job, index)

    work(scheduler, train)
    assert scheduler.state == "finished"


def test_a_failed_final_is_no_reason_to_wait_for_more_time():
    def train(job, index):
        if job.purpose == "final" and job.spec.method == "gcn":
            return Failure(index=index, kind="diverged", text="no number")
        return pretend(job, index)

    scheduler = scheduler_for(plan_from(), Memory(), deadline=1e6, now=lambda: 0.0)
    work(scheduler, train)
    scheduler.limits.deadline = -1.0
    assert scheduler.state == "incomplete"


def test_a_lost_worker_costs_no_budget_and_is_noted():
    memory, lost = Memory(), []
    scheduler = scheduler_for(plan_from(pruning=False), memory)
    while (job := next_job(scheduler, "a")) is not None:
        index = job.first
        if job.purpose == "repeat" and not lost:
            scheduler.receive("a", [(0, pretend(job, index))])
            lost.append(job)
            scheduler.lose("a", "killed")
            again = next_job(scheduler, "a")
            assert (again.trial, again.first) == (job.trial, 1)
            index = 1
        while scheduler.receive("a", [(0, pretend(job, index))]):
            index += 1
    row = memory.of(lost[0].spec.graph, lost[0].spec.method)[lost[0].trial]
    assert scheduler.state == "finished"
    assert row.retries == 1 and "repeat 1: worker lost (killed)" in row.notes
    assert len(memory.of(lost[0].spec.graph, lost[0].spec.method)) == 10


def test_a_trial_whose_worker_is_lost_too_often_fails():
    memory = Memory()
    scheduler = scheduler_for(plan_from(methods=("gcn+clar",)), memory)
    for _ in range(MAX_RETRIES + 1):
        job = next_job(scheduler, "a")
        assert (job.trial, job.first) == (0, 0)
        scheduler.lose("a", "killed")
    assert next_job(scheduler, "a").trial == 1
    row = memory.of("csbm-homophily", "gcn+clar")[0]
    assert (row.state, row.failure, row.retries) == ("failed", "lost", MAX_RETRIES + 1)


def test_retries_of_a_trial_add_up_over_its_repeats():
    memory = Memory()
    scheduler = scheduler_for(plan_from(methods=("gcn+clar",), trials=1, pruning=False), memory)
    job = next_job(scheduler, "a")
    for index in range(MAX_RETRIES + 1):
        assert scheduler.receive("a", [(0, trained(job, index, 0.5))])
        scheduler.lose("a", "killed")
        job = next_job(scheduler, "a")
    row = memory.of("csbm-homophily", "gcn+clar")[0]
    assert (row.state, row.failure, row.repeats) == ("failed", "lost", MAX_RETRIES + 1)


def test_a_worker_lost_after_the_time_limit_ends_its_trial():
    clock = [0.0]
    memory = Memory()
    scheduler = scheduler_for(plan_from(methods=("gcn+clar",)), memory, now=lambda: clock[0])
    next_job(scheduler, "a")
    clock[0] = 5000.0
    scheduler.started("a")  # it waited for a machine: that does not count
    clock[0] += 1801
    scheduler.lose("a", "gone")
    row = memory.of("csbm-homophily", "gcn+clar")[0]
    assert (row.state, row.failure) == ("failed", "time")


def test_a_failed_trial_counts_and_never_wins():
    def train(job, index):
        if job.purpose == "repeat" and job.trial in (0, 1):
            return Failure(index=index, kind=["diverged", "error"][job.trial], text="no number")
        return pretend(job, index)

    memory = ran(train=train)
    rows = memory.of("csbm-homophily", "gcn+clar")
    assert [row.state for row in rows[:2]] == ["failed", "failed"]
    assert len(rows) == 10
    assert {final.trial for final in memory.finals if final.method == "gcn+clar"}.isdisjoint(
        {0, 1}
    )


def test_a_study_without_a_winner_leaves_the_run_incomplete():
    def train(job, index):
        if job.spec.method == "gcn+clar":
            return Failure(index=index, kind="error", text="broken")
        return pretend(job, index)

    memory = Memory()
    scheduler = scheduler_for(plan_from(), memory)
    work(scheduler, train)
    assert scheduler.state == "incomplete"
    assert [study.confirmed for study in scheduler.studies] == [True, False, True, False]


def test_a_final_that_fails_is_noted_and_tried_again_by_the_next_driver():
    def train(job, index):
        if job.purpose == "final" and index == 1 and job.spec.method == "gcn":
            return Failure(index=index, kind="diverged", text="no number")
        return pretend(job, index)

    memory = Memory()
    scheduler = scheduler_for(plan_from(), memory)
    work(scheduler, train)
    assert scheduler.state == "incomplete"
    assert "final 1: diverged: no number" in memory.of("csbm-homophily", "gcn")[0].notes
    again = scheduler_for(plan_from(), memory)
    work(again)
    assert again.state == "finished" and len(memory.finals) == ARMS * 3


def test_draining_ends_after_the_repeats_under_way_and_prunes_nothing():
    memory = Memory()
    scheduler = scheduler_for(plan_from(methods=("gcn+clar",)), memory, workers=2)
    first, second = next_job(scheduler, "a"), next_job(scheduler, "b")
    scheduler.limits.draining = True
    assert not scheduler.receive("a", [(0, trained(first, 0, 0.9))])
    assert not scheduler.receive("b", [(0, trained(second, 0, 0.95))])
    assert next_job(scheduler, "c") is None and not scheduler.live
    assert scheduler.state == "interrupted"
    assert [(row.state, row.repeats) for row in memory.trials.values()] == [("running", 1)] * 2


def test_the_time_budget_leaves_room_for_the_finals_of_ended_studies():
    clock = [0.0]

    def train(job, index):
        clock[0] += 1.0
        return pretend(job, index)

    memory = Memory()
    plan = plan_from(methods=("gcn+clar",))
    scheduler = scheduler_for(plan, memory, deadline=95.0, now=lambda: clock[0])
    work(scheduler, train)
    assert scheduler.state == "paused"
    assert clock[0] <= 95
    first, second = scheduler.studies
    assert first.confirmed and not second.confirmed
    assert not [f for f in memory.finals if f.graph == "csbm-heterophily"]
    rest = scheduler_for(plan, memory)
    work(rest)
    assert rest.state == "finished"


def test_a_budget_that_is_over_at_once_starts_nothing():
    memory = Memory()
    scheduler = scheduler_for(plan_from(), memory, deadline=0.0, now=lambda: 1.0)
    assert next_job(scheduler, "a") is None and scheduler.state == "paused"
    assert not memory.trials


def test_extending_adds_trials_and_confirms_again_only_where_the_winner_changed():
    memory = ran()
    before = {row.key for row in memory.finals}
    winners = {(row.graph, row.method): row.trial for row in memory.finals}
    larger = plan_from(trials=25, finals=4, first_trials=10)
    scheduler = scheduler_for(larger, memory)
    work(scheduler)
    assert scheduler.state == "finished"
    assert before <= {row.key for row in memory.finals}
    assert len(memory.of("csbm-homophily", "gcn+clar")) == 25
    for study in scheduler.studies:
        columns = study.plan.columns
        mine = [r for r in memory.finals if (r.graph, r.method) == (columns.graph, columns.method)]
        changed = winners[columns.graph, columns.method] != study.winner.trial
        assert len([r for r in mine if r.arm == "on"]) == (3 + 4 if changed else 4)
        # All winners have the same shared parameters: what is trained without penalty stays.
        assert len([r for r in mine if r.arm == "off"]) == (4 if study.plan.arms else 0)


def test_searches_are_repeated_with_other_seeds():
    memory = Memory()
    scheduler = scheduler_for(plan_from(replicates=2, methods=("gcn+clar",)), memory)
    work(scheduler)
    params = [
        [row.params for row in memory.trials.values() if row.search == search] for search in (0, 1)
    ]
    assert len(params[0]) == len(params[1]) == 20 and params[0] != params[1]
    keys = Counter(row.key for row in [*memory.repeats, *memory.finals])
    assert set(keys.values()) == {1}


def test_rows_carry_what_a_search_may_know_and_no_test_score():
    memory = ran()
    assert all(type(row) is RepeatRow for row in memory.repeats)
    assert not hasattr(memory.repeats[0], "test_score")
