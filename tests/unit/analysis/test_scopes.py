"""Both scopes against other libraries, worked examples and the cases without any spread."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups
from statsmodels.stats.weightstats import ttost_paired

from clar_tune.analysis.scopes import (
    ROLES,
    Effect,
    SplitDifferences,
    collapsed,
    over_nodes,
    over_splits,
    over_splits_of_stein,
    p_of_sign_flips,
)
from clar_tune.errors import ParameterError

DRAW = np.random.default_rng(3)
ON, OFF = DRAW.normal(0.82, 0.02, size=(2, 20))


def _splits(count=12, nodes=90, tested=30, seed=1):
    draw = np.random.default_rng(seed)
    difficulty = draw.normal(size=nodes)
    chosen = [np.sort(draw.permutation(nodes)[: tested + j % 3]) for j in range(count)]
    return [
        SplitDifferences(own, np.sign(np.round(difficulty[own] + draw.normal(size=len(own)))))
        for own in chosen
    ]


def test_the_first_scope_is_the_paired_t_test_of_scipy():
    found = over_splits(ON - OFF)
    other = stats.ttest_rel(ON, OFF)
    assert found.p_difference == pytest.approx(other.pvalue, rel=1e-12)
    low, high = other.confidence_interval(0.95)
    assert found.mean - found.half_width() == pytest.approx(low, rel=1e-12)
    assert found.mean + found.half_width() == pytest.approx(high, rel=1e-12)


@pytest.mark.parametrize("margin", [0.005, 0.01, 0.03])
def test_equality_is_the_two_one_sided_tests_of_statsmodels(margin):
    p, _, _ = ttost_paired(ON, OFF, -margin, margin)
    assert over_splits(ON - OFF).p_equal(margin) == pytest.approx(p, rel=1e-9)


def test_the_second_scope_is_the_two_way_cluster_covariance_of_statsmodels():
    splits = _splits()
    count = len(splits)
    values = np.concatenate([s.values for s in splits])
    weights = np.concatenate([np.full(len(s.values), 1 / (count * len(s.values))) for s in splits])
    split = np.repeat(np.arange(count), [len(s.values) for s in splits])
    node = np.concatenate([s.nodes for s in splits])
    fit = sm.WLS(values, np.ones_like(values), weights=weights).fit()
    _, of_splits, of_nodes = cov_cluster_2groups(fit, split, node, use_correction=False)
    both = float(np.sum((weights * (values - fit.params[0])) ** 2))
    nodes = len(np.unique(node))
    s = of_splits.item() * count / (count - 1)
    n = ROLES * of_nodes.item() * nodes / (nodes - 1)
    found = over_nodes(splits)
    assert found.mean == pytest.approx(fit.params[0], rel=1e-12)
    assert found.error == pytest.approx(math.sqrt(max(s + n - both, s, n)), rel=1e-9)
    assert found.freedom == count - 1


def test_the_second_scope_by_hand():
    # Two splits of two nodes each, node 1 in both: d = 0.5, e = (x - d) / 4.
    splits = [
        SplitDifferences(np.array([0, 1]), np.array([1.0, 0.0])),
        SplitDifferences(np.array([1, 2]), np.array([1.0, 0.0])),
    ]
    # e = .125, -.125 | .125, -.125: V_s = 0, V_n = 3/2 3/2 (2/64), V_b = 4/64.
    assert over_nodes(splits) == Effect(0.5, pytest.approx(math.sqrt(1.5 * 1.5 * 2 / 64)), 1)


def test_what_splits_and_nodes_share_counts_once():
    # Two splits, no node in both: d = 1/4, e = (x - d) / 4 = 3/16, -1/16 | -1/16, -1/16.
    splits = [
        SplitDifferences(np.array([0, 1]), np.array([1.0, 0.0])),
        SplitDifferences(np.array([2, 3]), np.array([0.0, 0.0])),
    ]
    # V_s = 2 (1/8^2 + 1/8^2) = 1/16, V_n = 3/2 4/3 12/256 = 6/64, V_b = 12/256 = 3/64.
    assert over_nodes(splits) == Effect(0.25, pytest.approx(math.sqrt(7 / 64)), 1)


def test_the_second_scope_is_never_narrower_than_the_first():
    for seed in range(20):
        splits = _splits(seed=seed)
        first = over_splits([s.values.mean() for s in splits])
        second = over_nodes(splits)
        assert second.mean == pytest.approx(first.mean)
        assert second.error >= first.error * (1 - 1e-12)


@given(st.permutations(range(12)))
def test_the_order_of_splits_does_not_matter(order):
    splits = _splits()
    mixed = [splits[place] for place in order]
    assert over_nodes(mixed).error == pytest.approx(over_nodes(splits).error, rel=1e-9)


def test_differences_without_spread():
    same = over_splits([0.02] * 10)
    assert (same.error, same.p_difference, same.detectable()) == (0.0, 1.0, None)
    assert same.half_width() == 0.0
    assert same.p_equal(0.01) == 1.0
    assert over_splits([0.0] * 10).p_equal(0.01) == 0.0
    still = [SplitDifferences(np.arange(3), np.zeros(3)) for _ in range(4)]
    assert over_nodes(still) == Effect(0.0, 0.0, 3)


def test_steins_interval_uses_the_first_spread_and_its_freedom():
    d = ON - OFF
    found = over_splits_of_stein(d, 8)
    error = np.std(d[:8], ddof=1) / math.sqrt(20)
    assert found == Effect(pytest.approx(d.mean()), pytest.approx(error), 7)


def test_the_detectable_effect_has_the_power_that_it_promises():
    effect = Effect(0.0, 0.004, 19)
    shift = effect.detectable(tests=30)
    limit = stats.t.isf(0.05 / 30 / 2, 19)
    assert stats.nct.sf(limit, 19, shift / effect.error) == pytest.approx(0.8, abs=1e-6)


def test_sign_flips_are_counted_for_few_differences():
    # Of the 16 flips of (1, 2, 3, 4) those with |sum| = 10 are two.
    assert p_of_sign_flips([1.0, 2.0, 3.0, 4.0]) == 2 / 16
    assert p_of_sign_flips([1.0, -1.0, 1.0, -1.0]) == 1.0


def test_sums_that_tie_but_for_lost_digits_are_as_far_from_0():
    d = np.array([0.1, 0.2, -0.3, 0.1, 0.2, -0.3])
    assert d.sum() > 0.0  # 0 in exact numbers, so that every flip is at least as far
    assert p_of_sign_flips(d) == 1.0


def test_sign_flips_agree_with_scipy():
    d = ON - OFF + 0.005
    other = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=9999, rng=1
    ).pvalue
    assert p_of_sign_flips(d) == pytest.approx(other, abs=0.02)
    assert p_of_sign_flips(d) == p_of_sign_flips(d)


def test_one_disaster_decides_the_t_test_and_not_the_flips():
    d = np.array([0.01] * 19 + [0.02])
    assert over_splits(d).p_difference < 1e-12
    assert collapsed([0.8] * 15 + [0.1] * 5) == 5
    assert collapsed([0.8, 0.56, 0.54]) == 0


@pytest.mark.parametrize("wrong", [[], [0.1], [0.1, math.nan], [0.1, math.inf]])
def test_what_has_no_spread_to_speak_of_is_refused(wrong):
    for effect in (over_splits, p_of_sign_flips):
        with pytest.raises(ParameterError, match="finite, two at least"):
            effect(wrong)


@pytest.mark.parametrize("sizes", [(), (3,), (3, 0)])
def test_an_effect_over_nodes_needs_two_splits_with_nodes(sizes):
    splits = [SplitDifferences(np.arange(size), np.ones(size)) for size in sizes]
    with pytest.raises(ParameterError, match="needs two splits with nodes"):
        over_nodes(splits)


def test_steins_rule_needs_first_differences_that_are_there():
    with pytest.raises(ParameterError, match="2 to 3 first differences, got 4"):
        over_splits_of_stein([0.1, 0.2, 0.3], 4)
