"""Random numbers by address: uniform, independent, the same wherever they are computed."""

import numpy as np
import pytest
from scipy import stats

from clar_tune.engine.compiling import called
from clar_tune.engine.randomness import (
    FEATURES,
    HIDDEN,
    PER_LAYER,
    below,
    fill_words,
    key_of,
    scale_of,
    threshold,
    uniform,
)
from clar_tune.models import dropout

MILLION = 10**6


@pytest.fixture(scope="module")
def words():
    key, fill = called(key_of), called(fill_words)

    def words(seed: int = 1, purpose: int = FEATURES, epoch: int = 1, count: int = MILLION):
        made = np.empty(count, np.uint32)
        fill(np.uint64(key(np.uint64(seed), purpose, epoch)), 0, count, made)
        return made

    return words


def chi_square(counts) -> float:
    return float(stats.chisquare(counts).pvalue)


@pytest.mark.parametrize("epoch", [1, 2, 77])
@pytest.mark.parametrize("shift", [0, 8, 16, 24])
def test_every_byte_of_a_million_words_is_uniform(words, epoch, shift):
    values = (words(epoch=epoch) >> np.uint32(shift)) & np.uint32(255)
    assert chi_square(np.bincount(values, minlength=256)) > 1e-4


@pytest.mark.parametrize(
    "other",
    [{"epoch": 2}, {"seed": 2}, {"purpose": HIDDEN}, {"purpose": FEATURES + PER_LAYER}],
    ids=str,
)
def test_streams_are_independent_of_each_other(words, other):
    first, second = words() >> np.uint32(28), words(**other) >> np.uint32(28)
    pairs = np.bincount(first * 16 + second, minlength=256)
    assert chi_square(pairs) > 1e-4


@pytest.mark.parametrize("distance", [1, 2, 16, 32, 1433])
def test_neighbouring_elements_are_independent(words, distance):
    bits = words().view(np.uint16) >> np.uint16(12)
    pairs = np.bincount(bits[:-distance] * 16 + bits[distance:], minlength=256)
    assert chi_square(pairs) > 1e-4


def test_an_element_is_kept_as_often_over_epochs_as_over_elements(words):
    kept = np.stack([words(epoch=epoch, count=500) >= 2**31 for epoch in range(2000)])
    expected = stats.binom(2000, 0.5).std() / 2000
    assert abs(kept.mean() - 0.5) < 5 * expected / np.sqrt(500)
    z = (kept.mean(axis=0) - 0.5) / expected
    assert stats.kstest(z, "norm").pvalue > 1e-4


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.7, 0.9])
def test_keep_rates_are_what_was_asked_for(words, rate):
    limit = called(threshold)(rate)
    kept = (words().view(np.uint16) >= limit).mean()
    deviation = np.sqrt(max(rate * (1 - rate), 1e-12) / (2 * MILLION))
    assert abs(kept - (1 - rate)) < 5 * deviation + 1e-5
    assert called(scale_of)(rate) == pytest.approx(1 / (1 - rate), rel=1e-4)


@pytest.mark.parametrize("limit", [2, 7, 183, 2707])
def test_numbers_below_a_limit_are_uniform(limit):
    draw, key = called(below), np.uint64(called(key_of)(np.uint64(3), 2, 5))
    drawn = [draw(key, np.uint32(place), limit) for place in range(200_000)]
    counts = np.bincount(drawn, minlength=limit)
    assert len(counts) == limit
    assert chi_square(counts) > 1e-4


def test_words_do_not_depend_on_how_many_are_made_at_once(words):
    whole, fill = words(count=1000), called(fill_words)
    key = np.uint64(called(key_of)(np.uint64(1), FEATURES, 1))
    part = np.empty(300, np.uint32)
    fill(key, 500, 300, part)
    assert np.array_equal(part, whole[500:800])


def test_numpy_makes_the_same_numbers(words):
    made = words(seed=5, purpose=3, epoch=0, count=1000)
    assert np.array_equal(uniform(5, 3, 1000), (made + 0.5) / 2**32)


def test_seeds_that_differ_in_one_bit_have_nothing_in_common(words):
    base = words(seed=0)
    for bit in (0, 31, 63):
        other = words(seed=1 << bit)
        assert abs((np.bitwise_count(base ^ other) / 32).mean() - 0.5) < 1e-3


@pytest.mark.parametrize("rate", [0.0, 1e-6, 0.1, 1 / 3, 0.5, 0.9, 0.99999, 1 - 1e-9])
def test_the_torch_path_drops_by_the_same_rule(rate):
    assert dropout.threshold(rate) == called(threshold)(rate)
    assert np.float32(dropout.scale_of(rate)) == called(scale_of)(rate)
