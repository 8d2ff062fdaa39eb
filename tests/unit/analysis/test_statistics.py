"""Worked examples by hand, published ones, and the same numbers from other libraries."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from clar_tune.analysis.statistics import (
    ENOUGH_GRAPHS,
    LEVEL,
    POWER,
    Estimate,
    average_ranks,
    estimate,
    estimate_of_means,
    friedman,
    holm,
    least_p,
    pearson,
    settled,
    signed_rank_sum,
    signed_ranks,
    spearman,
)
from clar_tune.errors import ParameterError

TEXAS = 65 / 82
"""Test nodes per training node of texas."""

DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.976, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
"""Four variants of C4.5 on 14 data sets, the worked example of Demsar (JMLR 2006).

It prints 0.975 twice in the last row but one, with ranks 2 and 3: the first is 0.976 here.
"""


def test_the_corrected_interval_by_hand():
    # Ten gains with mean 0.02 and variance 10 * 0.01^2 / 9; t(9) at 97.5 % is 2.262157.
    gains = [0.01, 0.03] * 5
    found = estimate(gains, TEXAS)
    error = math.sqrt((1 / 10 + 65 / 82) * 10 * 0.01**2 / 9)
    assert error == pytest.approx(0.0099593, abs=1e-7)
    assert found.mean == pytest.approx(0.02)
    assert found.half_width == pytest.approx(2.262157 * error, rel=1e-6)
    assert found.half_width == pytest.approx(0.022529, abs=1e-6)
    assert found.units == 10


def test_the_corrected_p_by_hand():
    # t = 0.02 / 0.0099593 = 2.00818 with 9 degrees of freedom; plainly it would be 6.
    gains = [0.01, 0.03] * 5
    assert estimate(gains, TEXAS).p == pytest.approx(2 * stats.t.sf(2.00818, 9), abs=1e-5)
    assert estimate(gains, TEXAS).p == pytest.approx(0.0755, abs=1e-4)
    assert estimate(gains).p == pytest.approx(2 * stats.t.sf(6.0, 9), rel=1e-9)


def test_the_correction_widens_the_interval_by_its_factor():
    gains = [0.02, -0.01, 0.05, 0.00, 0.03]
    factor = math.sqrt((1 / 5 + 0.4) / (1 / 5))
    assert estimate(gains, 0.4).half_width == pytest.approx(factor * estimate(gains).half_width)


def test_without_shared_nodes_it_is_students_test():
    draw = np.random.default_rng(0)
    one, other = draw.normal(0.8, 0.03, 12), draw.normal(0.78, 0.03, 12)
    found = estimate(one - other)
    plain, paired = stats.ttest_1samp(one - other, 0), stats.ttest_rel(one, other)
    assert found.p == pytest.approx(plain.pvalue) == pytest.approx(paired.pvalue)
    low, high = plain.confidence_interval(0.95)
    assert (found.mean - found.half_width, found.mean + found.half_width) == pytest.approx(
        (low, high)
    )


@pytest.mark.parametrize("share", [0.0, TEXAS])
def test_the_interval_excludes_zero_exactly_where_p_is_below_the_level(share):
    draw = np.random.default_rng(1)
    found = [estimate(draw.normal(3.0, 1.5, 6), share) for _ in range(200)]
    claims = [one.p < LEVEL for one in found]
    assert claims == [abs(one.mean) > one.half_width for one in found]
    assert 10 < sum(claims) < 200


@pytest.mark.parametrize("units", [2, 3, 5, 10, 50])
def test_the_detectable_gain_agrees_with_statsmodels(units):
    gains = np.random.default_rng(2).normal(0, 0.02, units)
    size = TTestPower().solve_power(nobs=units, alpha=LEVEL, power=POWER)
    found = estimate(gains)
    assert found.detectable == pytest.approx(size * np.std(gains, ddof=1), rel=1e-4)


@pytest.mark.parametrize("tests", [1, 4, 18, 195])
def test_the_detectable_gain_of_many_tests_is_that_of_holms_first_step(tests):
    # The power at that gain, integrated over the variance that the sample may have.
    gains = np.random.default_rng(2).normal(0, 0.02, 10)
    found, limit = estimate(gains, tests=tests), stats.t.isf(LEVEL / tests / 2, 9)
    shift = found.detectable / np.std(gains, ddof=1) * math.sqrt(10)
    power, _ = integrate.quad(
        lambda v: stats.norm.cdf(shift - limit * math.sqrt(v / 9)) * stats.chi2.pdf(v, 9), 0, 200
    )
    assert power == pytest.approx(POWER, abs=1e-6)


def test_the_number_of_tests_changes_what_is_detectable_alone():
    gains = np.random.default_rng(2).normal(0, 0.02, 10)
    single, found = estimate(gains), estimate(gains, tests=18)
    assert found.detectable > single.detectable
    assert (found.p, found.half_width) == (single.p, single.half_width)


def test_means_of_groups_are_the_units_by_hand():
    # Means 1, 3 and 5 with variance 4; within the groups the variance is 2, thrice.
    groups = [[0.0, 2.0], [2.0, 4.0], [4.0, 6.0]]
    found = estimate_of_means(groups, 0.5)
    assert (found.mean, found.units) == (3.0, 3)
    assert found.half_width == pytest.approx(stats.t.ppf(0.975, 2) * math.sqrt(4 / 3 + 0.5 * 2))
    assert estimate_of_means(groups) == estimate([1.0, 3.0, 5.0])
    assert estimate_of_means([[1.0], [3.0], [5.0]], 0.5) == estimate([1.0, 3.0, 5.0], 0.5)


def searches(own: float, share: float, samples: int = 400):
    """Ten finals of each of five searches, true gain 0.

    ``own`` is what a search finds by luck, ``share`` what all splits have in common.
    """
    draw = np.random.default_rng(6)
    common = draw.normal(0, math.sqrt(share), (samples, 1, 1))
    return common + draw.normal(0, own, (samples, 5, 1)) + draw.normal(0, 1, (samples, 5, 10))


def claimed(found) -> float:
    return float(np.mean([one.p < LEVEL for one in found]))


@pytest.mark.parametrize("own", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_searches_make_few_false_claims_whatever_their_luck(own, share):
    gains = searches(own, share).tolist()
    assert claimed(estimate_of_means(sample, share) for sample in gains) <= 0.07


def test_finals_of_several_searches_are_no_units():
    assert claimed(estimate(sample.ravel()) for sample in searches(own=1.0, share=0.0)) > 0.3


def test_means_alone_do_not_show_how_much_their_splits_share():
    found = [estimate(sample.mean(axis=1), 0.5) for sample in searches(own=0.0, share=0.5)]
    assert claimed(found) > 0.2


def test_the_detectable_gain_is_found_in_four_of_five_experiments():
    draw = np.random.default_rng(3)
    spread = 0.02
    known = estimate([-1.0, 1.0] * 5).detectable / np.std([-1.0, 1.0] * 5, ddof=1) * spread
    samples = draw.normal(known, spread, (20_000, 10))
    found = np.mean(stats.ttest_1samp(samples, 0, axis=1).pvalue < LEVEL)
    assert found == pytest.approx(POWER, abs=0.01)  # its standard error is 0.003


def test_a_single_value_has_neither_interval_nor_test():
    assert estimate([0.7]) == Estimate(0.7, None, None, None, 1)


def test_equal_gains_have_no_spread_to_be_tested_against():
    for gain in (1 / 65, -0.1):
        expected = Estimate(pytest.approx(gain), None, None, None, 5)
        assert estimate([gain] * 5, TEXAS) == expected
    lost_digits = [0.7 - 0.6, 0.8 - 0.7, 0.3 - 0.2, 0.1]
    assert len(set(lost_digits)) > 1
    assert estimate(lost_digits).p is None


def test_no_gain_at_all_is_no_finding():
    assert estimate([0.0] * 10, TEXAS) == Estimate(0.0, 0.0, 1.0, None, 10)


@pytest.mark.parametrize("values", [[], [0.1, math.nan], [0.1, math.inf]])
def test_what_is_no_number_is_refused(values):
    with pytest.raises(ParameterError, match="finite numbers"):
        estimate(values)


def test_holm_by_hand():
    # 4 * 0.005, 3 * 0.01, 2 * 0.03, then 1 * 0.04, which must not fall below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_agrees_with_statsmodels():
    p = np.random.default_rng(4).uniform(0, 0.2, 30).tolist()
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_comparisons_without_a_result_count_in_the_family():
    assert holm([0.01, 0.02], family=5) == pytest.approx([0.05, 0.08])
    assert holm([0.01, 0.02], family=5) == holm([0.01, 0.02, 1.0, 1.0, 1.0])[:2]


def test_holm_of_few():
    assert holm([]) == [] and holm([], family=3) == []
    assert holm([0.04]) == [0.04]
    assert holm([0.6, 0.9]) == [1.0, 1.0]


def test_ranks_by_hand():
    scores = np.array([[0.9, 0.8, 0.7], [0.5, 0.6, 0.5]])
    assert average_ranks(scores).tolist() == [(1 + 2.5) / 2, (2 + 1) / 2, (3 + 2.5) / 2]


def test_ranks_of_the_published_example():
    assert average_ranks(DEMSAR) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_friedman_of_the_published_example():
    # The example prints chi2 = 9.28 and F = 3.69 without the correction for ties: three pairs
    # and one row of four, (3 * 6 + 60) / (14 * 60) of the room.
    ranks = average_ranks(DEMSAR)
    chi = 12 * 14 / (4 * 5) * (np.sum(ranks**2) - 4 * 5**2 / 4)
    assert chi == pytest.approx(9.28, abs=0.01)
    assert 13 * chi / (14 * 3 - chi) == pytest.approx(3.69, abs=0.01)
    chi /= 1 - 78 / 840
    assert friedman(DEMSAR) == pytest.approx(stats.f.sf(13 * chi / (14 * 3 - chi), 3, 39))
    assert friedman(DEMSAR) < LEVEL


def test_friedman_by_hand_without_ties():
    # Rank sums 5, 7, 12 over 4 graphs: chi2 = 12 / 48 * 218 - 48 = 6.5, F = 3 * 6.5 / 1.5 = 13.
    order = np.array([[3, 2, 1], [3, 2, 1], [3, 2, 1], [2, 3, 1]])
    assert stats.friedmanchisquare(*order.T).statistic == pytest.approx(6.5)
    assert friedman(order * 1.0) == pytest.approx(stats.f.sf(13, 2, 6))


def test_friedman_at_its_ends():
    same_order = np.arange(24.0).reshape(8, 3)
    assert friedman(same_order) == 0.0
    assert friedman(np.full((8, 3), 0.5)) == 1.0


def test_signed_ranks_of_the_published_example():
    # Sums of ranks 93 and 12, two zeros split; z = -2.54 by the normal approximation.
    p = signed_ranks(DEMSAR[:, 1], DEMSAR[:, 0])
    z = (12 - 14 * 15 / 4) / math.sqrt(14 * 15 * 29 / 24)
    assert p == pytest.approx(2 * stats.norm.cdf(z), abs=1e-4)


@pytest.mark.parametrize("graphs", [5, 8, 9])
def test_the_smallest_p_of_signed_ranks(graphs):
    better = np.arange(1.0, graphs + 1)
    assert least_p(graphs) == 2 / 2**graphs
    assert signed_ranks(better, np.zeros(graphs)) == least_p(graphs)
    assert signed_ranks(np.zeros(graphs), better) == least_p(graphs)


def test_five_graphs_cannot_decide_and_enough_can():
    assert least_p(5) > 0.06 > LEVEL > least_p(ENOUGH_GRAPHS)


def test_equal_differences_tie_whatever_their_rounding():
    first, second = np.array([0.3, 0.2, 0.9]), np.array([0.2, 0.1, 0.5])
    assert first[0] - second[0] != first[1] - second[1]
    assert signed_ranks(first, second) == signed_ranks(np.array([1.0, 1, 4]), np.zeros(3))
    mixed = np.array([0.3, 0.1, 0.9]), np.array([0.2, 0.2, 0.5])
    assert signed_ranks(*mixed) == signed_ranks(np.array([1.0, -1, 4]), np.zeros(3))


def test_equal_methods_have_p_one():
    assert signed_ranks(np.ones(8), np.ones(8)) == 1.0


SAMPLES = [1, 2, 4, 8, 16, 32]


def noisy(finals: int, slope: float = 0.0, split: float = 1.0, seed: int = 0):
    """Scores [finals, 6]: an effect of the final, one of the rank of the value, and noise."""
    draw = np.random.default_rng(seed)
    ranks = np.arange(6)
    return split * draw.normal(size=(finals, 1)) + slope * ranks + draw.normal(size=(finals, 6))


def test_spearman_is_taken_over_all_pairs():
    scores = noisy(10, slope=0.3)
    found = spearman(SAMPLES, scores)
    pairs = [(x, y) for row in scores for x, y in zip(SAMPLES, row, strict=True)]
    assert found.value == pytest.approx(stats.spearmanr(pairs).statistic)
    assert found.pairs == 60
    assert found.low < found.value < found.high


def test_spearman_by_hand():
    # Ranks of the scores 1, 3, 2 against 1, 2, 3: 1 - 6 * 2 / (3 * 8).
    found = spearman([1, 2, 32], [[0.1, 0.3, 0.2]])
    assert found.value == pytest.approx(0.5)
    assert (found.low, found.high, found.pairs) == (None, None, 3)


def test_spearman_shares_ranks_between_equal_scores():
    scores = [[0.1, 0.1, 0.2], [0.1, 0.2, 0.2]]
    expected = stats.spearmanr([1, 2, 3] * 2, np.ravel(scores)).statistic
    assert spearman([1, 2, 3], scores).value == pytest.approx(expected)


def test_the_bootstrap_draws_whole_finals():
    # The same order in every final, lost among large differences between finals once the
    # scores under each value are dealt out anew.
    paired = 10.0 * np.arange(8)[:, None] + 0.1 * np.arange(6)
    draw = np.random.default_rng(0)
    dealt = np.stack([draw.permutation(column) for column in paired.T], axis=1)
    widths = [one.high - one.low for one in (spearman(SAMPLES, paired), spearman(SAMPLES, dealt))]
    assert widths[0] < 0.6 * widths[1]


def test_the_interval_of_spearman_covers_the_truth():
    # 95 % of 300 tables without any effect; a deviation is 1.3 points.
    found = [spearman(SAMPLES, noisy(10, seed=seed)) for seed in range(300)]
    covered = np.mean([one.low <= 0 <= one.high for one in found])
    assert 0.92 <= covered <= 1.0


def test_scores_that_do_not_vary_have_no_coefficient():
    assert spearman(SAMPLES, np.full((10, 6), 0.8)) is None
    assert spearman([2, 2], noisy(5)[:, :2]) is None
    assert pearson([0.5] * 5, range(5)) is None and pearson(range(5), [0.5] * 5) is None
    assert pearson([0.5], [0.5]) is None


def test_perfect_agreement_has_a_finite_interval():
    for found in (spearman([1, 2], [[0.1, 0.2]] * 5), pearson(range(9), range(9))):
        assert found.value == pytest.approx(1.0)
        assert -1 <= found.low <= found.high <= 1


def test_equal_scores_get_equal_intervals():
    assert spearman(SAMPLES, noisy(10)) == spearman(SAMPLES, noisy(10))


def test_pearson_has_fishers_interval():
    draw = np.random.default_rng(0)
    x = draw.normal(size=162)
    y = x + draw.normal(size=162)
    found, expected = pearson(x, y), stats.pearsonr(x, y)
    interval = expected.confidence_interval(0.95)
    assert found.value == pytest.approx(expected.statistic)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.pairs == 162


def test_three_pairs_have_no_interval():
    assert pearson([1, 2, 3], [1, 3, 2]).low is None


def test_equal_means_tie_whatever_the_order_of_the_sum():
    up, down = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert up != down
    assert settled([up, down]).tolist() == [0.2, 0.2]
    table = np.array([[up, down, 0.1], [down, up, 0.1]])
    assert average_ranks(table).tolist() == [1.5, 1.5, 3.0]
    assert friedman(np.array([[up, down, up]] * 3)) == 1.0
    assert settled([1e-9, 2e-9]).tolist() == [1e-9, 2e-9]  # small errors stay apart


def test_signed_ranks_have_a_direction():
    first, second = np.array([0.9, 0.5, 0.5]), np.array([0.5, 0.6, 0.5])
    assert signed_rank_sum(first, second) == -signed_rank_sum(second, first) > 0
    assert signed_rank_sum(first, first) == 0
