"""Options of backbones in a search: they move no other point, and trials may leave them unsaid."""

import json

import pytest
from support.simulation import Memory, plan_from, scheduler_for, work

from clar_tune.analysis.runs import studies_of
from clar_tune.analysis.search_space import searched
from clar_tune.cluster.native_programs import engine_remarks
from clar_tune.records import from_stored, to_stored
from clar_tune.rows import PlannedStudy
from clar_tune.search.epoch_costs import seconds_per_epoch
from clar_tune.search.manifest import manifest_of
from clar_tune.search.memory import bytes_of
from clar_tune.search.sizes import Size

SPACE = """
description: a backbone with options
graphs: [csbm-homophily]
methods: [gcn, gcn+clar]
protocol: random-60-20-20
search: {trials: 12, repeats: 1, pruning: false, sampler: random}
finals: 2
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}, dropout: {low: 0.0, high: 0.8}}
    backbones: {gcn: {OPTIONS}}
    regularizers: {clar: {alpha: {choices: [0, 0.1, 1]}, beta: {choices: [0, 0.1, 1]}}}
"""
OPTIONS = "norm: {choices: [none, batch]}, residual: {choices: [false, true]}, jk: none"
WITH, WITHOUT = SPACE.replace("OPTIONS", OPTIONS), SPACE.replace("OPTIONS", "")


def ran(text: str) -> Memory:
    memory = Memory()
    work(scheduler_for(plan_from(text), memory))
    return memory


def rows_of(memory: Memory, method: str) -> list:
    return sorted(memory.of("csbm-homophily", method), key=lambda row: row.trial)


def test_options_move_no_start_up_point_and_methods_share_them():
    plain, free = (rows_of(ran(text), "gcn") for text in (WITH, WITHOUT))
    clar = rows_of(ran(WITH), "gcn+clar")
    first = slice(0, 3)  # 12 / 4
    for name in ("lr", "dropout"):
        wanted = [row.params[name] for row in free[first]]
        assert [row.params[name] for row in plain[first]] == wanted
        assert [row.params[name] for row in clar[first]] == wanted
    for name in ("norm", "residual"):
        own = [row.params.get(name) for row in plain[first]]
        assert [row.params.get(name) for row in clar[first]] == own
    assert plain[0].params.keys() == free[0].params.keys()  # the known point: no options
    assert len({(r.params.get("norm"), r.params.get("residual")) for r in plain}) == 4


def test_readers_know_what_trials_leave_unsaid():
    memory, plan = ran(WITH), plan_from(WITH)
    planned = plan.studies[0].planned
    assert planned.unsaid == {"norm": "none", "residual": False}
    assert from_stored(PlannedStudy, json.loads(json.dumps(to_stored(planned)))) == planned
    assert plan_from(WITHOUT).studies[0].planned.unsaid is None

    row = manifest_of(plan, {})
    views = studies_of(row, memory.trials.values(), memory.finals, memory.scores())
    study = next(view for view in views if view.method == "gcn")
    found = searched(study)
    assert set(found.domains) == {"lr", "dropout", "norm", "residual"}
    for trial in study.trials:
        assert found.chosen[trial.trial]["norm"] == trial.params.get("norm", "none")
        assert study.params_of(trial)["residual"] is trial.params.get("residual", False)


@pytest.mark.parametrize(
    ("options", "engine", "said"),
    [
        (OPTIONS, "torch", ["torch trains gcn, gcn+clar, not the native engine: parameter norm"]),
        ("jk: cat", "torch", ["torch trains gcn, gcn+clar, not the native engine: parameter jk"]),
        ("norm: none, residual: false", "native", []),
    ],
)
def test_a_study_whose_options_may_alter_is_torchs_from_the_plan_on(options, engine, said):
    plan = plan_from(SPACE.replace("OPTIONS", options), engine="native")
    assert {study.engine for study in plan.studies} == {engine}
    assert engine_remarks(plan) == said


def test_options_and_second_neighbours_cost_memory_and_time():
    size = Size(nodes=2_000, edges=40_000, features=500, entries=20_000, outputs=5)
    study, usual = (plan_from(text).studies[0] for text in (WITH, WITHOUT))
    assert bytes_of(size, study) > bytes_of(size, usual)
    complete, method = usual.method.complete, usual.method
    plain = seconds_per_epoch(method, complete({}), size)
    assert seconds_per_epoch(method, complete({"residual": True}), size) > plain
    assert seconds_per_epoch(method, complete({"jk": "last"}), size) > plain

    second, filtered = (
        plan_from(WITHOUT.replace("gcn", name)).studies[0] for name in ("h2gcn", "gpr")
    )
    more = bytes_of(size, second) - bytes_of(size, filtered)
    assert more >= 32 * size.second_neighbours > 0
    denser = Size(nodes=2_000, edges=400_000, features=500, entries=20_000, outputs=5)
    for name in ("appnp", "gcnii", "bernnet", "fagcn", "h2gcn"):
        own = plan_from(WITHOUT.replace("gcn", name)).studies[0].method
        times = [seconds_per_epoch(own, own.complete({}), each) for each in (size, denser)]
        assert 0 < times[0] < times[1]
