"""The null check of compare's test, small enough for every run; the benchmark has more."""

import numpy as np
import pytest

from benchmarks.null_check.corrected import Design, claims, split_gains

TEXAS = Design(train=82, val=36, test=65)
MIDDLE = Design(train=110, val=36, test=37)


@pytest.mark.parametrize("design", [TEXAS, MIDDLE])
def test_false_claims_are_rare_and_the_naive_test_makes_many(design):
    # A test with 10 % false claims would stay below 7 % in fewer than one of 100 such counts.
    found = claims(design, samples=600)
    assert found.truth == 0.0
    assert found.corrected.value <= 0.07
    assert found.naive.value >= 0.14


def test_more_splits_of_the_same_nodes_make_the_naive_test_worse():
    few, many = claims(MIDDLE, 100), claims(Design(110, 36, 37, splits=50), 100)
    assert many.naive.value > few.naive.value + 0.1
    assert many.corrected.value <= 0.07


def test_a_true_gain_of_the_detectable_size_is_found_in_four_of_five_samples():
    found = claims(Design(300, 100, 100, dropped=2, edge=0.11), samples=500)
    assert found.truth == pytest.approx(found.detectable, abs=0.01)
    assert found.corrected.value == pytest.approx(0.8, abs=0.1)


def test_equal_learners_gain_nothing_on_average():
    draw = np.random.default_rng(5)
    means = [split_gains(TEXAS, draw).mean() for _ in range(200)]
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(200)
    assert np.std(means) > 0.01  # the learners do differ
