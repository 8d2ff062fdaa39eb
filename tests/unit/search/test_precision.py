"""Finals by precision: the first ones of a graph decide how many all of its winners get."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from support.simulation import Memory, plan_from, pretend, scheduler_for, work

from clar_tune.analysis.progress import stored_progress
from clar_tune.analysis.runs import RunView, studies_of
from clar_tune.precision import finals_of_stein
from clar_tune.search.jobs import Failure
from clar_tune.search.manifest import manifest_of
from clar_tune.search.progress import studies_under_way

SPACE = """
description: two graphs, finals until effects are known to two points
graphs: [csbm-homophily, csbm-heterophily]
methods: [gcn, gcn+nl, gcn+preg, sage]
protocol: balanced-60-20-20
search: {trials: 3, repeats: 1, sampler: random}
finals: {half_width: 2, at_least: 4, at_most: 15}
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}}
    regularizers: {nl: {alpha: {choices: [0.1, 1]}}, preg: {weight: {choices: [0.1, 1]}}}
"""
NOISE = {"csbm-homophily": 0.001, "csbm-heterophily": 0.02}


def noisy(job, index):
    """Effects are known at once on one graph, and hardly on the other."""
    done = pretend(job, index)
    if job.purpose != "final":
        return done
    spec = job.spec
    draw = random.Random(f"{spec.graph} {spec.method} {job.arm} {index} {spec.params}")
    return replace(done, test_score=0.5 + draw.gauss(0, NOISE[spec.graph]))


def run_with(train=noisy, workers: int = 1, text: str = SPACE, **options):
    plan, memory = plan_from(text, **options), Memory()
    scheduler = scheduler_for(plan, memory, workers=workers)
    work(scheduler, train)
    return plan, memory, scheduler


def numbers(memory: Memory, graph: str) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = {}
    for row in memory.finals:
        if row.graph == graph:
            found.setdefault((row.method, row.arm), []).append(row.repeat)
    return found


def expected(memory: Memory, graph: str, plan) -> int:
    """The definition: the largest number that one of the graph's effects needs."""
    scores = {
        (row.method, row.arm, row.repeat): row.test_score
        for row in memory.finals
        if row.graph == graph
    }
    needed = []
    for method in ("gcn+nl", "gcn+preg"):
        first = [
            (
                (scores[method, "on", n] - scores[method, "off", n])
                + (scores[method, "cross", n] - scores["gcn", "on", n])
            )
            / 2
            for n in range(4)
        ]
        needed.append(finals_of_stein(first, plan.studies[0].precision))
    return max(needed)


@pytest.mark.parametrize("workers", [1, 3])
def test_all_winners_of_a_graph_get_what_its_widest_effect_needs(workers):
    plan, memory, scheduler = run_with(workers=workers)
    assert scheduler.state == "finished"
    wanted = {graph: expected(memory, graph, plan) for graph in plan.graphs}
    assert wanted["csbm-homophily"] == 4 < wanted["csbm-heterophily"] <= 15
    for graph, count in wanted.items():
        found = numbers(memory, graph)
        assert len(found) == 1 + 3 + 3 + 1
        assert all(sorted(own) == list(range(count)) for own in found.values())
    keys = Counter(row.key for row in memory.finals)
    assert set(keys.values()) == {1}


def test_the_rule_looks_at_the_first_finals_of_all_arms_before_any_other_is_trained():
    _, memory, _ = run_with()
    rows = [row for row in memory.finals if row.graph == "csbm-heterophily"]
    first = [row.repeat < 4 for row in rows]
    assert first.index(False) == 8 * 4


def test_killed_at_any_event_and_resumed_equals_uninterrupted():
    plan, whole, _ = run_with()
    row = manifest_of(plan, {})
    total = work(scheduler_for(plan, Memory()), noisy)
    for cut in range(0, total, 5):
        memory = Memory()
        work(scheduler_for(plan, memory), noisy, events=cut)
        again = scheduler_for(plan, memory)
        views = studies_of(row, memory.trials.values(), memory.finals, memory.scores())
        told = {
            (s.graph, s.method): s
            for s in stored_progress(RunView("it", row, tuple(views))).studies
        }
        for study in studies_under_way(again):
            assert told[study.graph, study.method] == study, f"cut after {cut} events"
        work(again, noisy)
        assert memory.numbers() == whole.numbers(), f"cut after {cut} events"


def test_a_final_that_is_given_up_holds_nobody_up():
    def train(job, index):
        if job.purpose == "final" and job.spec.method == "gcn+nl" and job.arm == "cross":
            return Failure(index=index, kind="diverged", text="no number")
        return noisy(job, index)

    plan, memory, scheduler = run_with(train)
    assert scheduler.state == "incomplete"
    found = numbers(memory, "csbm-heterophily")
    counts = {len(own) for own in found.values()}
    assert len(counts) == 1 and counts.pop() > 4
    again = scheduler_for(plan, memory)
    work(again, noisy)
    assert again.state == "finished"


@pytest.mark.parametrize("text", [SPACE.replace("gcn, ", ""), SPACE], ids=["unplanned", "failed"])
def test_without_a_plain_winner_the_half_that_is_there_decides(text):
    def train(job, index):
        if job.purpose == "repeat" and job.spec.method == "gcn":
            return Failure(index=index, kind="diverged", text="no number")
        return noisy(job, index)

    plan, memory, scheduler = run_with(train, text=text)
    scores = {
        (row.graph, row.method, row.arm, row.repeat): row.test_score for row in memory.finals
    }
    for graph in plan.graphs:
        halves = [
            [scores[graph, m, "on", n] - scores[graph, m, "off", n] for n in range(4)]
            for m in ("gcn+nl", "gcn+preg")
        ]
        wanted = max(finals_of_stein(first, plan.studies[0].precision) for first in halves)
        found = numbers(memory, graph)
        assert all(sorted(own) == list(range(wanted)) for own in found.values())
        assert ("gcn+nl", "cross") not in found
        assert (wanted > 4) == (graph == "csbm-heterophily")
    views = studies_of(
        manifest_of(plan, {}), memory.trials.values(), memory.finals, memory.scores()
    )
    told = {(study.graph, study.method): study.finals_asked for study in views}
    for study in scheduler.studies:
        of = study.plan.columns
        assert told[of.graph, of.method] == study.finals.each


def test_a_number_of_finals_that_is_given_leaves_the_rule_out():
    _, memory, scheduler = run_with(finals=5)
    assert scheduler.state == "finished"
    assert all(
        sorted(own) == list(range(5)) for graph in NOISE for own in numbers(memory, graph).values()
    )
