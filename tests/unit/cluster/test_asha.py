"""Asha: Ray's ASHA, known by our trial numbers."""

import random

import pytest

from clar_tune.cluster.asha import Asha


def judged(rungs: Asha, results: list[tuple[int, int, float]]) -> list[bool]:
    return [rungs(*result) for result in results]


def test_the_first_trial_goes_on_to_the_last_repeat():
    rungs = Asha(9, 3, True)
    assert [rungs(0, repeats, 0.5) for repeats in range(1, 10)] == [True] * 8 + [False]


def test_a_trial_below_the_best_third_stops_at_the_first_rung():
    rungs = Asha(9, 3, True)
    assert rungs(0, 1, 0.9)
    assert not rungs(1, 1, 0.5)
    assert rungs(2, 1, 0.95)


def test_between_rungs_nothing_is_judged():
    rungs = Asha(9, 3, True)
    assert judged(rungs, [(0, 1, 0.9), (0, 2, 0.9), (0, 3, 0.9)]) == [True] * 3
    assert judged(rungs, [(1, 1, 0.95), (1, 2, 0.0)]) == [True] * 2
    assert not rungs(1, 3, 0.1)


def test_low_is_good_where_the_metric_is_an_error():
    rungs = Asha(9, 3, False)
    assert rungs(0, 1, 0.5)
    assert not rungs(1, 1, 0.9)
    assert rungs(2, 1, 0.1)


@pytest.mark.parametrize("repeats", [1, 2, 3, 9, 10, 27])
def test_every_trial_ends_at_its_last_repeat(repeats):
    rungs = Asha(repeats, 3, True)
    for repeat in range(1, repeats):
        assert rungs(0, repeat, 1.0)
    assert not rungs(0, repeats, 1.0)


def test_the_same_results_in_the_same_order_give_every_decision_again():
    draw = random.Random(7)
    results: list[tuple[int, int, float]] = []
    decisions = []
    rungs = Asha(9, 3, True)
    alive = {trial: 0 for trial in range(30)}
    while alive:  # results of trials that run side by side
        trial = draw.choice(sorted(alive))
        alive[trial] += 1
        results.append((trial, alive[trial], draw.random()))
        decisions.append(rungs(*results[-1]))
        if not decisions[-1]:
            del alive[trial]
    assert judged(Asha(9, 3, True), results) == decisions
    assert False in decisions[:20] and len(results) < 30 * 9
