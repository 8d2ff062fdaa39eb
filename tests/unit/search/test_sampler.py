"""Proposals: one conformance suite that every sampler passes, and what Optuna hears."""

import json
from collections import Counter
from functools import cache

import pytest
from optuna.trial import TrialState
from support.simulation import plan_from

from clar_tune.search.sampler import Sampler

CONTINUOUS = """
description: a continuous space
graphs: [csbm-homophily]
methods: [gcn+clar]
protocol: balanced-60-20-20
search: {trials: 16, pruning: false}
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}, hidden: {low: 4, high: 64, integer: true}}
    regularizers:
      clar: {alpha: {choices: [-1, 0, 1]}, reduction: {choices: [trace, node-mean]}}
"""
CONDITIONAL = """
description: a space with a parameter that depends on another
graphs: [csbm-homophily]
methods: [gcn+clar]
protocol: balanced-60-20-20
search: {trials: 16, pruning: false}
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}, hidden: {low: 4, high: 64, integer: true}}
    regularizers:
      clar:
        alpha: {choices: [-1, 0, 1]}
        reduction: {choices: [trace, node-mean]}
        clamp: {choices: [1, 10, null], when: {reduction: trace}}
"""
FINITE = """
description: six cells
graphs: [csbm-homophily]
methods: [gcn+clar]
protocol: balanced-60-20-20
search: {trials: 16, pruning: false}
settings:
  tuned:
    regularizers: {clar: {alpha: {choices: [0, 1, 2]}, samples: {choices: [1, 2]}}}
"""
SAMPLERS = ("tpe", "gp", "random")


def study_of(text: str, sampler: str = "tpe", **options) -> Sampler:
    (plan,) = plan_from(text, sampler=sampler, **options).studies
    return Sampler(plan, maximise=True)


def quality(params) -> float:
    return -((params["lr"] - 0.03) ** 2) - abs(params["alpha"]) + params["hidden"] / 1000


def proposals(study: Sampler, count: int) -> list[dict]:
    found = []
    for number in range(count):
        found.append(study.propose(number))
        study.complete(number, quality(found[-1]))
    return found


@cache
def whole(sampler: str) -> tuple[dict, ...]:
    """Proposals of a study that nothing interrupts; several tests look at them."""
    return tuple(proposals(study_of(CONTINUOUS, sampler), 14))


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_proposals_are_complete_configurations_inside_their_ranges(sampler):
    for params in whole(sampler):
        assert 0.001 <= params["lr"] <= 0.1
        assert params["hidden"] in range(4, 65)
        assert params["alpha"] in (-1, 0, 1) and params["reduction"] in ("trace", "node-mean")
        assert params["beta"] == 1.0  # not searched: its default


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_equal_seeds_propose_alike_and_other_seeds_do_not(sampler):
    first = list(whole(sampler)[:10])
    assert proposals(study_of(CONTINUOUS, sampler), 10) == first
    assert proposals(study_of(CONTINUOUS, sampler, seed=1), 10) != first


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("cut", [1, 5, 11])
def test_a_study_rebuilt_from_its_trials_goes_on_as_if_nothing_had_happened(sampler, cut):
    rebuilt = study_of(CONTINUOUS, sampler)
    for number, params in enumerate(whole(sampler)[:cut]):
        stored = json.loads(json.dumps(params))
        rebuilt.start(number, stored)
        rebuilt.complete(number, quality(stored))
    for number in range(cut, 14):
        params = rebuilt.propose(number)
        assert params == whole(sampler)[number]
        rebuilt.complete(number, quality(params))


def test_a_rebuilt_study_knows_which_trials_still_run():
    def begun() -> Sampler:
        study = study_of(CONTINUOUS)
        for number in range(8):
            study.propose(number)
            if number != 5:
                study.complete(number, number / 10)
        return study

    begun_study = begun()
    rebuilt = study_of(CONTINUOUS)
    for number, trial in enumerate(begun_study._study.trials):
        rebuilt.start(number, _external(begun_study, trial.params))
        if number != 5:
            rebuilt.complete(number, number / 10)
    assert rebuilt.propose(8) == begun_study.propose(8)


def _external(study: Sampler, internal: dict) -> dict:
    chosen = {}
    for parameter in study._parameters:
        if parameter.name in internal:
            value = internal[parameter.name]
            listed = hasattr(parameter.domain, "ordered")
            chosen[parameter.name] = parameter.domain.values[value] if listed else value
    return study._plan.method.complete(chosen)


def test_the_start_is_quasi_random_and_spreads_over_the_range():
    study = study_of(CONTINUOUS, trials=64)
    first = [study.propose(number) for number in range(16)]
    in_lower_half = sum(params["lr"] < 0.01 for params in first)
    assert in_lower_half == 8  # a Sobol sequence halves every range exactly
    assert Counter(params["reduction"] for params in first) == {"trace": 8, "node-mean": 8}


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_a_parameter_exists_only_where_its_condition_holds(sampler):
    found = proposals(study_of(CONDITIONAL, sampler), 16)
    traced = [params for params in found if params["reduction"] == "trace"]
    others = [params for params in found if params["reduction"] != "trace"]
    assert {params["clamp"] for params in traced} <= {1.0, 10.0, None}
    assert len({params["clamp"] for params in traced}) > 1
    assert {params["clamp"] for params in others} == {1.0}  # the default


@pytest.mark.parametrize("sampler", ["tpe", "gp", "random", "grid"])
def test_a_finite_space_is_used_up_without_doubles(sampler):
    study = study_of(FINITE, sampler)
    found = []
    for number in range(6):
        found.append(study.propose(number))
        study.complete(number, 0.5)
    cells = {(params["alpha"], params["samples"]) for params in found}
    assert len(cells) == 6
    assert study.propose(6) is None


def test_the_grid_goes_on_after_what_was_stored():
    whole = study_of(FINITE, "grid")
    cells = [whole.propose(number) for number in range(6)]
    rebuilt = study_of(FINITE, "grid")
    for number, params in enumerate(cells[:4]):
        rebuilt.start(number, params)
    assert [rebuilt.propose(number) for number in (4, 5)] == cells[4:]


def test_optuna_hears_the_truth():
    study = study_of(CONTINUOUS)
    for number in range(4):
        study.propose(number)
    study.complete(0, 0.9)
    study.prune(1, 0.4, repeats=3)
    study.fail(2, hints=True)
    study.fail(3, hints=False)
    complete, pruned, diverged, broken = study._study.trials
    assert (complete.state, complete.value) == (TrialState.COMPLETE, 0.9)
    assert (pruned.state, pruned.intermediate_values) == (TrialState.PRUNED, {3: 0.4})
    assert (diverged.state, diverged.value) == (TrialState.PRUNED, None)
    assert diverged.intermediate_values == {}
    assert broken.state == TrialState.FAIL
    assert study._study.best_trial.number == 0


def test_tpe_keeps_away_from_where_training_diverged():
    """Half of the range diverges; what is told as failed would be proposed again and again."""

    def in_bad_half(hints: bool, seed: int) -> int:
        study = study_of(CONTINUOUS, seed=seed, trials=40)
        bad = 0
        for number in range(40):
            params = study.propose(number)
            if params["lr"] > 0.01:
                bad += number >= 10
                study.fail(number, hints=hints)
            else:
                study.complete(number, params["lr"])
        return bad

    told, forgotten = (sum(in_bad_half(hints, seed) for seed in range(4)) for hints in (1, 0))
    assert told < forgotten


def test_choices_in_order_are_ordinal_and_others_are_not():
    study = study_of(CONTINUOUS)
    study.propose(0)
    kinds = {n: type(d).__name__ for n, d in study._study.trials[0].distributions.items()}
    assert kinds["alpha"] == "IntDistribution"
    assert kinds["reduction"] == "CategoricalDistribution"
    assert kinds["lr"] == "FloatDistribution"
