"""Finals of all arms: which a winner has, on which pairs, in which order, and what waits."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from support.simulation import Memory, plan_from, pretend, scheduler_for, work

from clar_tune.analysis.progress import stored_progress
from clar_tune.analysis.runs import RunView, studies_of
from clar_tune.search.jobs import Failure
from clar_tune.search.manifest import manifest_of
from clar_tune.search.progress import studies_under_way

SPACE = """
description: a backbone with three regularizers
graphs: [csbm-homophily]
methods: [gcn, gcn+clar, gcn+nl, gcn+preg]
protocol: balanced-60-20-20
search: {trials: 5, repeats: 3}
finals: 2
settings:
  tuned:
    shared: {hidden: {choices: [8, 16]}, lr: {low: 0.001, high: 0.1, log: true}}
    regularizers:
      clar: {alpha: {choices: [0, 1]}, beta: {choices: [0, 1]}, reduction: node-mean}
      nl: {alpha: {choices: [0.1, 1]}}
      preg: {weight: {choices: [0, 0.1, 1]}}
"""


def ran(text: str = SPACE, train=pretend, **options) -> tuple[Memory, object]:
    memory = Memory()
    scheduler = scheduler_for(plan_from(text, **options), memory)
    work(scheduler, train)
    return memory, scheduler


def preferring(method: str, **wanted):
    """Lets the trials of a method win that have some values."""

    def train(job, index):
        done = pretend(job, index)
        own = job.purpose == "repeat" and job.spec.method == method
        if not own:
            return done
        score = 0.9 if all(job.spec.params[n] == value for n, value in wanted.items()) else 0.1
        return replace(done, record=replace(done.record, val_score=score, val_loss=1 - score))

    return train


def arms(memory: Memory, method: str) -> dict[str, list]:
    found: dict[str, list] = {}
    for row in memory.finals:
        if row.method == method:
            found.setdefault(row.arm, []).append(row)
    return found


def test_all_arms_meet_the_same_pairs():
    memory, scheduler = ran(train=preferring("gcn+clar", alpha=1.0, beta=1.0))
    assert scheduler.state == "finished"
    pairs = {(row.repeat, row.split_seed, row.init_seed) for row in memory.finals}
    assert len(pairs) == 2
    for method, names in [
        ("gcn", {"on"}),
        ("gcn+clar", {"on", "off", "cross", "nl", "any"}),
        ("gcn+nl", {"on", "off", "cross"}),
    ]:
        found = arms(memory, method)
        assert set(found) == names
        assert all(sorted(row.repeat for row in rows) == [0, 1] for rows in found.values())


def test_arms_train_what_they_are_named_for():
    memory, _ = ran(train=preferring("gcn+clar", alpha=1.0, beta=1.0))
    (plain,) = {row.trial for row in arms(memory, "gcn")["on"]}
    plain_params = memory.trials["csbm-homophily", "gcn", "", 0, plain].params
    found = {arm: rows[0].params for arm, rows in arms(memory, "gcn+clar").items()}
    on = found["on"]
    assert found["off"] == {name: on[name] for name in plain_params}
    assert found["cross"] == {**on, **plain_params}
    assert found["nl"] == {**on, "beta": 0.0}
    assert found["any"] == {**on, "sampling": "any"}


@pytest.mark.parametrize(
    ("method", "wanted", "names"),
    [
        ("gcn+clar", {"alpha": 0.0, "beta": 0.0}, {"on"}),
        ("gcn+clar", {"alpha": 1.0, "beta": 0.0}, {"on", "off", "cross"}),
        ("gcn+preg", {"weight": 0.0}, {"on"}),
    ],
)
def test_a_winner_whose_penalty_is_off_has_no_arms(method, wanted, names):
    memory, scheduler = ran(train=preferring(method, **wanted), trials=16)
    assert set(arms(memory, method)) == names and scheduler.state == "finished"


def test_without_ablation_winners_alone_are_trained():
    memory, scheduler = ran(ablation=False)
    assert {row.arm for row in memory.finals} == {"on"} and len(memory.finals) == 8
    assert scheduler.state == "finished"


@pytest.mark.parametrize("trials", [5, 16])
def test_no_key_is_trained_twice_though_methods_share_their_parameters(trials):
    """Without penalty, winners with the same shared parameters would be one training."""
    text = SPACE.replace("lr: {low: 0.001, high: 0.1, log: true}", "lr: 0.01")
    memory, _ = ran(text, trials=trials)
    off = [row for row in memory.finals if row.arm == "off" and row.repeat == 0]
    assert len({row.params["hidden"] for row in off}) < len(off)
    keys = Counter(row.key for row in [*memory.repeats, *memory.finals])
    assert set(keys.values()) == {1}


def test_a_plain_study_that_failed_holds_nobody_up():
    def train(job, index):
        if job.spec.method == "gcn" and job.purpose == "repeat":
            return Failure(index=index, kind="error", text="broken")
        return pretend(job, index)

    memory, scheduler = ran(train=train)
    assert scheduler.state == "incomplete"
    assert [study.confirmed for study in scheduler.studies] == [False, True, True, True]
    assert set(arms(memory, "gcn+nl")) == {"on", "off"}


def test_a_winner_waits_for_the_plain_one_it_is_crossed_with():
    memory, seen = Memory(), []
    scheduler = scheduler_for(plan_from(SPACE, trials=3), memory)

    def train(job, index):
        if job.purpose == "final" and job.arm == "cross":
            plain = memory.of("csbm-homophily", "gcn")
            seen.append(all(row.state != "running" for row in plain) and len(plain) == 3)
        return pretend(job, index)

    work(scheduler, train)
    assert seen and all(seen)


def test_scores_are_whole_before_arms_are_trained():
    memory, _ = ran(train=preferring("gcn+clar", alpha=1.0, beta=1.0))
    rank = {"on": 0, "off": 1, "cross": 2, "nl": 3, "any": 4}
    for method in ("gcn+clar", "gcn+nl"):
        order = [rank[row.arm] for row in memory.finals if row.method == method]
        assert order == sorted(order)


def test_a_failed_final_of_an_arm_is_told_by_its_name():
    def train(job, index):
        if job.purpose == "final" and job.arm == "off":
            return Failure(index=index, kind="diverged", text="no number")
        return pretend(job, index)

    memory, scheduler = ran(train=train)
    assert scheduler.state == "incomplete"
    notes = [note for row in memory.trials.values() for note in row.notes]
    assert "final 0 of off: diverged: no number" in notes
    again = scheduler_for(plan_from(SPACE), memory)
    work(again)
    assert again.state == "finished"


@pytest.mark.parametrize("workers", [1, 3])
def test_the_store_tells_of_progress_what_the_driver_does_at_every_cut(workers):
    plan, draw = plan_from(SPACE), random.Random(workers)
    row = manifest_of(plan, {})
    total = work(scheduler_for(plan, Memory(), workers=workers))
    for cut in range(total + 1):
        memory = Memory()
        work(scheduler_for(plan, memory, workers=workers), events=cut, order=draw)
        scheduler = scheduler_for(plan, memory)
        studies = studies_of(row, memory.trials.values(), memory.finals, memory.scores())
        told = {s.method: s for s in stored_progress(RunView("it", row, tuple(studies))).studies}
        for study in studies_under_way(scheduler):
            assert told[study.method] == study, f"cut after {cut} events"


def test_arms_are_added_to_a_run_that_was_made_without():
    memory, scheduler = ran(ablation=False)
    before = {row.key for row in memory.finals}
    whole, _ = ran()
    again = scheduler_for(plan_from(SPACE), memory)
    assert again.state != "finished"
    work(again)
    assert again.state == "finished" and before <= {row.key for row in memory.finals}
    assert memory.numbers() == whole.numbers()


def test_a_winner_is_crossed_anew_when_the_plain_winner_has_changed():
    memory, _ = ran(trials=3)
    larger = plan_from(SPACE, trials=12, first_trials=3)
    scheduler = scheduler_for(larger, memory)
    work(scheduler)
    assert scheduler.state == "finished"
    row = manifest_of(larger, {})
    studies = {s.method: s for s in studies_of(row, memory.trials.values(), memory.finals)}
    plain = studies["gcn"].best.params
    assert plain != memory.trials["csbm-homophily", "gcn", "", 0, 0].params
    for method in ("gcn+nl", "gcn+preg"):
        for final in studies[method].arm("cross"):
            assert plain.items() <= final.params.items()
        asked = studies[method].arms_asked
        assert [len(studies[method].arm(arm)) for arm in asked] == [2] * len(asked)
    keys = Counter(row.key for row in [*memory.repeats, *memory.finals])
    assert set(keys.values()) == {1}
