"""The six rules of verdicts, and what they promise."""

import numpy as np
import pytest
from scipy import stats

from clar_tune.analysis.scopes import Effect
from clar_tune.analysis.statistics import LEVEL, holm
from clar_tune.analysis.verdicts import Finding, level_of_look, promise_of_look, verdicts

MARGIN = 0.01
SURE, UNSURE = 1e-6, 0.5


def _words(*family):
    return [verdict.word for verdict in verdicts(family)]


def test_a_difference_is_better_or_worse_by_its_sign():
    assert _words(Finding(mean=0.02, p_difference=SURE)) == ["better"]
    assert _words(Finding(mean=-0.02, p_difference=SURE)) == ["worse"]
    assert _words(Finding(mean=0.02, p_difference=UNSURE)) == ["undecided"]
    assert _words(Finding(mean=0.002, p_equal=SURE)) == ["equal"]


def test_a_small_difference_is_said_to_be_small():
    (one,) = verdicts([Finding(mean=0.004, p_difference=SURE, p_equal=SURE)])
    assert (one.word, one.small) == ("better", True)
    (other,) = verdicts([Finding(mean=0.04, p_difference=SURE)])
    assert (other.word, other.small) == ("better", False)


def test_both_procedures_are_holms_over_all_planned_cells():
    p = [0.001, 0.02, 0.04, 0.3]
    family = [Finding(mean=0.1, p_difference=own) for own in p]
    family += [Finding(missing=True), Finding(unused=True)]
    found = verdicts(family)
    assert [one.p_difference for one in found[:4]] == holm([*p, 1.0, 1.0])[:4]
    assert [one.p_equal for one in found] == [1.0] * 6
    assert [one.word for one in found] == ["better", *["undecided"] * 3, "none", "unused"]


def test_every_cell_counts_in_both_procedures():
    equal = [Finding(mean=0.0, p_equal=0.04)]
    assert _words(*equal, Finding(mean=0.1, p_difference=SURE)) == ["undecided", "better"]
    assert verdicts(equal)[0].word == "equal"


def test_missing_cells_make_their_family_stricter():
    one = Finding(mean=0.1, p_difference=0.02)
    assert _words(one) == ["better"]
    assert _words(one, Finding(missing=True), Finding(missing=True)) == [
        "undecided",
        "none",
        "none",
    ]


def test_identical_finals_are_equal_and_a_constant_shift_is_undecided():
    assert _words(Finding(no_spread=True)) == ["equal"]
    assert _words(Finding(no_spread=True, mean=0.01, p_difference=0.0)) == ["undecided"]


def test_only_what_beats_the_floor_can_be_better():
    sure = {"mean": 0.02, "p_difference": SURE}
    assert _words(Finding(**sure, beats_floor=False)) == ["at the floor"]
    assert _words(Finding(**sure, may_be_better=False)) == ["undecided"]
    assert _words(Finding(**sure, p_equal=SURE, may_be_better=False)) == ["equal"]
    assert _words(Finding(mean=-0.02, p_difference=SURE, may_be_worse=False)) == ["undecided"]
    assert _words(Finding(mean=-0.02, p_difference=SURE, may_be_better=False)) == ["worse"]


def test_collapses_allow_no_equality():
    assert _words(Finding(mean=0.0, p_equal=SURE, may_be_equal=False)) == ["undecided"]


def test_later_looks_are_stricter():
    assert [level_of_look(look) for look in range(3)] == [LEVEL, LEVEL / 2, LEVEL / 4]
    one = Finding(mean=0.02, p_difference=0.03)
    assert verdicts([one], level_of_look(0))[0].word == "better"
    assert verdicts([one], level_of_look(1))[0].word == "undecided"


def test_the_promise_adds_up_over_looks():
    assert [promise_of_look(look) for look in range(3)] == pytest.approx([0.05, 0.075, 0.0875])
    assert promise_of_look(50) <= 0.1


@pytest.mark.parametrize("truth", ["zero", "margin", "both"])
def test_families_of_thirty_keep_their_promise(truth):
    """At most 5 % for any false difference, at most 5 % for any false equality (3 errors)."""
    draws, cells, finals = 1500, 30, 20
    draw = np.random.default_rng(0)
    means = {"zero": np.zeros(cells), "margin": np.full(cells, MARGIN)}
    means["both"] = np.where(np.arange(cells) % 2, MARGIN, 0.0)
    false_difference = false_equality = 0
    for _ in range(draws):
        d = means[truth][:, None] + draw.normal(0, 0.01, size=(cells, finals))
        effects = [Effect(m, e, finals - 1) for m, e in zip(d.mean(1), _errors(d), strict=True)]
        p_difference = 2 * stats.t.sf(np.abs([e.mean / e.error for e in effects]), finals - 1)
        family = [
            Finding(mean=e.mean, p_difference=p, p_equal=e.p_equal(MARGIN))
            for e, p in zip(effects, p_difference, strict=True)
        ]
        found = verdicts(family)
        null = means[truth] == 0
        false_difference += any(
            v.word in ("better", "worse") for v, zero in zip(found, null, strict=True) if zero
        )
        false_equality += any(
            v.word == "equal" or v.small for v, zero in zip(found, null, strict=True) if not zero
        )
    bound = draws * LEVEL + 3 * np.sqrt(draws * LEVEL * (1 - LEVEL))
    assert false_difference <= bound
    assert false_equality <= bound


def _errors(d):
    return d.std(axis=1, ddof=1) / np.sqrt(d.shape[1])
