"""Stored rows as studies, and studies side by side."""

from dataclasses import asdict, replace

from simulation import Memory, conductor_for, plan_from, trained, work

from clar_tune.comparison import compare
from clar_tune.manifest import manifest
from clar_tune.overview import studies_of

SCORES = {"gcn": 0.5, "gcn+clar": 0.75}


def finished(**options) -> tuple[Memory, list]:
    def train(job, index):
        step = 0.25 if index % 2 and job.purpose == "final" else 0.0
        return trained(job, index, SCORES[job.method] - step)

    plan, memory = plan_from(finals=4, **options), Memory()
    work(conductor_for(plan, memory), train)
    finals = [asdict(row) for row in memory.finals]
    return memory, studies_of(manifest(plan, {}), memory.trials.values(), finals)


def test_a_cell_holds_mean_spread_and_paired_gain_of_the_winner():
    _, studies = finished()
    plain, clar = compare(studies)[:2]
    assert (plain.method, plain.finals, plain.mean, plain.gain) == ("gcn", 4, 0.375, None)
    assert (clar.method, clar.finals, clar.mean) == ("gcn+clar", 4, 0.625)
    assert clar.gain == 0.25
    assert abs(clar.spread - 0.25 / 3**0.5) < 1e-12  # deviations of 1/8, n - 1


def test_budgets_stand_beside_the_scores():
    _, studies = finished()
    plain, clar = compare(studies)[:2]
    assert (plain.trials, plain.repeats) == (1, 0)
    assert (clar.trials, clar.repeats) == (10, clar.seconds - 4)  # one second per training


def test_finals_of_a_former_winner_are_left_out():
    memory, _ = finished()
    winner = next(row for row in memory.finals if row.method == "gcn+clar")
    other = replace(winner, trial=winner.trial + 1, test_score=0.0, repeat=0)
    finals = [asdict(row) for row in [*memory.finals, other]]
    studies = studies_of(manifest(plan_from(finals=4), {}), memory.trials.values(), finals)
    assert compare(studies)[1].mean == 0.625


def test_a_study_without_finals_has_no_cell():
    memory, _ = finished()
    finals = [asdict(row) for row in memory.finals if row.method == "gcn+clar"]
    studies = studies_of(manifest(plan_from(), {}), memory.trials.values(), finals)
    cells = compare(studies)
    assert [cell.method for cell in cells] == ["gcn+clar"] * 2
    assert cells[0].gain is None  # nothing to pair with


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
    conductor = conductor_for(plan, memory)
    work(conductor)
    assert conductor.state == "finished"
    finals = [asdict(row) for row in memory.finals]
    (study,) = studies_of(manifest(plan, {}), memory.trials.values(), finals)
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
            work(conductor_for(plan, memory), events=events)
        last = memory.trials["csbm-homophily", "gcn+clar", "", 0, 1]
        assert last.notes.count("used up") == 1, f"cut after {cut} events"
