"""Numbers of finals: Stein's rule, and what would decide an effect."""

import numpy as np
import pytest
from scipy import stats

from clar_tune.analysis.scopes import over_splits, over_splits_of_stein
from clar_tune.errors import ParameterError
from clar_tune.precision import (
    Precision,
    finals_of_graph,
    finals_of_stein,
    finals_to_decide,
)

RULE = Precision(half_width=0.004, at_least=20, at_most=100)


def _with_deviation(s, count=20):
    d = np.random.default_rng(0).normal(size=count)
    return s * (d - d.mean()) / d.std(ddof=1)


@pytest.mark.parametrize(
    ("s", "finals"),
    # t(19) at 97.5 % is 2.0930: (2.0930 s / 0.004)^2, rounded up, between 20 and 100.
    [(0.001, 20), (0.0085, 20), (0.01, 28), (0.015, 62), (0.03, 100)],
)
def test_steins_number_by_hand(s, finals):
    assert finals_of_stein(_with_deviation(s), RULE) == finals


def test_a_graph_gets_the_largest_of_its_effects():
    effects = [_with_deviation(0.01), _with_deviation(0.015), _with_deviation(0.001)]
    assert finals_of_graph(effects, RULE) == 62
    assert finals_of_graph([], RULE) == 20


def test_steins_intervals_cover():
    draw, covered, draws = np.random.default_rng(1), 0, 2000
    for _ in range(draws):
        d = draw.normal(0.01, 0.012, size=100)
        count = finals_of_stein(d[:20], RULE)
        found = over_splits_of_stein(d[:count], 20)
        covered += abs(found.mean - 0.01) <= found.half_width()
    assert covered / draws >= 0.94


def test_so_many_finals_do_decide():
    """Power 80 % for equality at 0 and for a difference at the margin, at Holm's first step."""
    margin, s, tests = 0.01, 0.012, 30
    count = finals_to_decide(s, margin, tests)
    draw, draws = np.random.default_rng(2), 2000
    at_zero = draw.normal(0, s, size=(draws, count))
    at_margin = draw.normal(margin, s, size=(draws, count))
    level = 0.05 / tests
    equal = np.mean([over_splits(d).p_equal(margin) < level for d in at_zero])
    different = np.mean([over_splits(d).p_difference < level for d in at_margin])
    assert equal >= 0.78 and different >= 0.78
    fewer = np.mean([over_splits(d[: int(0.8 * count)]).p_equal(margin) < level for d in at_zero])
    assert fewer < 0.78


def test_advice_does_not_go_beyond_reason():
    assert finals_to_decide(0.2, 0.0001, 30) is None
    assert finals_to_decide(0.0, 0.01, 30) == 2


@pytest.mark.parametrize(
    "wrong", [(0, 20, 100), (0.4, 1, 100), (0.4, 30, 20), (float("nan"), 2, 3)]
)
def test_impossible_rules_are_refused(wrong):
    with pytest.raises(ParameterError, match="half_width"):
        Precision(*wrong)


def test_steins_rule_needs_its_first_finals():
    with pytest.raises(ParameterError, match="needs 20 differences, got 3"):
        finals_of_stein([0.1, 0.2, 0.3], RULE)


def test_students_limit_is_the_tables():
    assert stats.t.isf(0.025, 19) == pytest.approx(2.0930, abs=1e-4)
