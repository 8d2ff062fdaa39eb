"""Families, looks, searches and numbers of finals where the truth is known, in few draws."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.null_check.__main__ import main
from benchmarks.null_check.families import TRUTHS, false_looks, false_words
from benchmarks.null_check.finals import mixtures, stein
from benchmarks.null_check.searches import Search, arms_of
from benchmarks.null_check.tables import Measured
from clar_tune.analysis.scopes import over_splits, p_of_sign_flips
from clar_tune.analysis.verdicts import promise_of_look

DRAWS = 400
BOUND = 0.05 + 3 * np.sqrt(0.05 * 0.95 / DRAWS)


@pytest.mark.parametrize("truth", TRUTHS)
def test_families_keep_their_promise_and_one_holm_over_both_would_not(truth):
    difference, equality, single = false_words(TRUTHS[truth], 0.01, 20, DRAWS, seed=1)
    assert np.mean(difference) <= BOUND
    assert np.mean(equality) <= BOUND
    assert np.mean(single) >= 0.2


def test_looks_keep_the_promise_that_is_printed_and_not_five_percent():
    claimed = {name: found.mean(axis=1) for name, found in false_looks(1, 2000, seed=1).items()}
    error = np.sqrt(0.1 * 0.9 / 2000)
    promised = [promise_of_look(look) for look in range(5)]
    assert np.all(claimed["first is 0"] <= np.array(promised) + 3 * error)
    assert claimed["first is 0"][-1] > 0.06
    assert claimed["first is 1"][-1] <= 0.05 + 3 * error
    assert claimed["always 5 %"][-1] > 0.12


@pytest.mark.parametrize("exchanged", [0, 4])
def test_the_effect_of_a_null_search_is_centred_at_0_and_one_half_is_not(exchanged):
    arms = arms_of(Search(2.0, 1.0, 1.0, exchanged=exchanged), draws=4000, seed=1)
    half, other = arms.on - arms.off, arms.cross - arms.plain
    effect = Measured.over((half + other) / 2)
    assert abs(effect.value) < 4 * effect.error
    assert half.mean() > 0.3 and other.mean() < -0.3


def test_a_search_that_may_decline_the_penalty_does_at_times():
    search = Search(2.0, 1.0, 1.0, settings=6, may_be_off=True)
    arms = arms_of(search, draws=2000, seed=1)
    assert 0.05 < np.mean(~arms.used) < 0.4
    np.testing.assert_array_equal(arms.on[~arms.used], arms.off[~arms.used])


@pytest.mark.parametrize("kind", ["normal", "of 37 nodes", "largest of 3"])
def test_steins_intervals_cover_and_are_as_narrow_as_asked(kind):
    covered, counts, widths = stein(kind, 0.01, DRAWS, seed=1)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / DRAWS)
    narrow = np.array(widths)[np.array(counts) < 100]
    assert np.all(narrow <= 0.004 + 1e-12)


def test_arms_that_collapse_alike_are_rarely_told_apart():
    d = mixtures(0.1, 0.1, 20, DRAWS, seed=1)
    claimed = [over_splits(one).p_difference < 0.05 and p_of_sign_flips(one) < 0.05 for one in d]
    assert np.mean(claimed) <= BOUND


def test_errors_of_draws_that_share_a_sample_are_those_of_samples():
    assert Measured.over([0.0, 1.0, 0.0, 1.0]) == Measured(0.5, 0.25)
    assert Measured.over([[0.0, 0.0], [1.0, 1.0]]).error == pytest.approx(0.5 / np.sqrt(2))


def test_the_command_prints_and_keeps_its_tables(tmp_path):
    done = CliRunner().invoke(
        main, ["--part", "searches", "--draws", "50", "--seed", "3", "--out", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    assert "50 draws a row, seed 3" in done.output
    assert "cross - plain" in done.output and "±" in done.output
    kept = json.loads((tmp_path / "searches.json").read_text())
    assert (kept["draws"], kept["seed"]) == (50, 3)
    assert kept["rows"][0]["effect"].keys() == {"value", "error"}
