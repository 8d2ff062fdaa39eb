"""Searches begin with the weights that the paper has for a graph; a begun run keeps its own."""

from dataclasses import replace

import pytest
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.manifest_upgrade import upgraded
from clar_tune.search.manifest import manifest_of, plan_of

SPACE = """
description: preg on a citation graph and elsewhere
graphs: [cora, texas]
methods: [gcn, gcn+preg, gcn+nl]
protocol: random-60-20-20
search: {trials: 4, repeats: 1, pruning: false, sampler: random}
finals: 2
settings:
  tuned:
    regularizers:
      preg: {weight: {low: 0.01, high: 3, log: true}}
      nl: {alpha: {low: 0.01, high: 3, log: true}}
"""


def first_weights(memory: Memory) -> dict[str, float]:
    return {
        graph: next(row for row in memory.of(graph, "gcn+preg") if not row.trial).params["weight"]
        for graph in ("cora", "texas")
    }


def stored(former: bool):
    """The manifest of a run; ``former``: as it was before weights depended on graphs."""
    row = manifest_of(plan_from(SPACE), {})
    plans = [{k: v for k, v in plan.items() if k != "known"} for plan in row.study_plans]
    return replace(row, study_plans=plans) if former else row


def test_preg_begins_with_the_weight_that_the_paper_has_for_the_graph():
    memory = Memory()
    work(scheduler_for(plan_from(SPACE), memory))
    assert first_weights(memory) == {"cora": 0.1, "texas": 0.5}


def test_a_manifest_tells_only_what_is_not_the_same_on_every_graph():
    told = {(plan.graph, plan.method): plan.known for plan in stored(former=False).planned}
    assert told.pop(("texas", "gcn+preg")) == {"weight": 0.5}
    assert set(told.values()) == {None}


@pytest.mark.parametrize("former", [True, False], ids=["former", "today"])
def test_a_run_goes_on_with_the_points_that_it_began_with(former):
    """Also in studies that had not begun when it was cut off."""
    row = stored(former)
    plan, whole = plan_of("it", row), Memory()
    assert plan_of("it", upgraded(row, [])) == plan
    total = work(scheduler_for(plan, whole))
    assert first_weights(whole) == {"cora": 0.1, "texas": 0.1 if former else 0.5}
    for cut in range(0, total, 9):
        memory = Memory()
        work(scheduler_for(plan, memory), events=cut)
        again = plan_of("it", replace(row, study_plans=manifest_of(plan, {}).study_plans))
        work(scheduler_for(again, memory))
        assert memory.numbers() == whole.numbers(), f"cut after {cut} events"
