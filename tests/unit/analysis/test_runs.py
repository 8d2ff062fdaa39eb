"""Stored rows as studies."""

from support.results import finished
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.runs import studies_of
from clar_tune.rows import USED_UP
from clar_tune.search.manifest import manifest_of


def test_curves_are_the_repeats_of_each_trial_in_order():
    study = next(study for study in finished().studies if study.method == "gcn+clar")
    for trial in study.trials:
        scores = study.curves[trial.trial]
        assert len(scores) == trial.repeats
        assert abs(sum(scores) / len(scores) - trial.val_score) < 1e-12


def test_a_space_used_up_is_seen_from_the_rows():
    text = """
description: two cells
graphs: [csbm-homophily]
methods: [gcn+clar]
protocol: balanced-60-20-20
search: {trials: 10, repeats: 3}
finals: 2
settings: {tuned: {regularizers: {clar: {samples: {choices: [1, 2]}}}}}
"""
    plan, memory = plan_from(text), Memory()
    scheduler = scheduler_for(plan, memory)
    work(scheduler)
    assert scheduler.state == "finished"
    (study,) = studies_of(manifest_of(plan, {}), memory.trials.values(), memory.finals)
    assert study.used_up and len(study.trials) == 2


def test_a_space_used_up_is_noted_once_also_by_a_resumed_run():
    text = """
description: two cells
graphs: [csbm-homophily]
methods: [gcn+clar]
protocol: balanced-60-20-20
search: {trials: 10, repeats: 1}
finals: 2
settings: {tuned: {regularizers: {clar: {samples: {choices: [1, 2]}}}}}
"""
    for cut in range(1, 8):
        plan, memory = plan_from(text), Memory()
        for events in (cut, None):
            work(scheduler_for(plan, memory), events=events)
        last = memory.trials["csbm-homophily", "gcn+clar", "", 0, 1]
        assert last.used_up and last.remarks == [USED_UP], f"cut after {cut} events"
