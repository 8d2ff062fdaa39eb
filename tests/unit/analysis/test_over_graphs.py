"""Effects over distinct graphs, and between runs with other splits: worked examples."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.arm_scores import run_with

from clar_tune.analysis.comparison import compare, compare_all
from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.over_graphs import effects_over_graphs
from clar_tune.analysis.shift_part import shift_part_of
from clar_tune.errors import StoreError
from clar_tune.graphs import known_facts
from clar_tune.report import documents_of, render


def effect(graph: str, value: float, error: float = 0.01, freedom: int = 9) -> PenaltyEffect:
    return PenaltyEffect(
        graph=graph,
        condition="",
        method="gcn+clar",
        against="gcn",
        regularizer="clar",
        protocol="random-60-20-20",
        effect=value,
        error=error,
        freedom=freedom,
        units=freedom + 1,
    )


def over(*effects: PenaltyEffect, trials: dict[str, int] | None = None):
    facts = {e.graph: known_facts(e.graph) for e in effects}
    budgets = {(e.graph, "", e.method): (trials or {}).get(e.graph, 16) for e in effects}
    return effects_over_graphs(effects, facts, budgets)


def test_three_intervals_of_one_mean():
    (found,) = over(effect("cora", 0.01), effect("actor", 0.03), effect("photo", -0.01))
    spread, t = np.std([0.01, 0.03, -0.01], ddof=1), stats.t.ppf(0.975, 2)
    assert found.mean == pytest.approx(0.01)
    # equal errors: Satterthwaite's degrees of freedom add up
    assert found.these_half == pytest.approx(stats.t.ppf(0.975, 27) * 0.01 / 3**0.5)
    assert found.like_these_half == pytest.approx(t * spread / 3**0.5)
    assert found.one_more_half == pytest.approx(t * spread * (1 + 1 / 3) ** 0.5)
    assert found.graphs == ("cora", "actor", "photo")


def test_twins_are_averaged_first():
    (found,) = over(effect("texas", 0.02), effect("cornell", 0.04), effect("cora", 0.01))
    assert found.graphs == ("texas+cornell", "cora")
    assert found.mean == pytest.approx(0.02)
    variance = (2 * 0.01**2) / 4 + 0.01**2
    parts = ((2 * 0.01**2) / 4) ** 2 / 9 + 0.01**4 / 9
    half = stats.t.ppf(0.975, variance**2 / parts) * variance**0.5 / 2
    assert found.these_half == pytest.approx(half)


def test_a_twin_whose_penalty_is_off_takes_no_degrees_of_freedom():
    unused = effect("texas", 0.0, error=0.0, freedom=0)
    (found,) = over(unused, effect("cornell", 0.04), effect("cora", 0.01))
    variance = 0.01**2 / 4 + 0.01**2
    parts = (0.01**2 / 4) ** 2 / 9 + 0.01**4 / 9
    half = stats.t.ppf(0.975, variance**2 / parts) * variance**0.5 / 2
    assert found.these_half == pytest.approx(half)


def test_filtered_graphs_stand_for_raw_ones_and_generated_ones_for_nothing():
    (found,) = over(
        *(effect("chameleon", 0.5), effect("chameleon-filtered", 0.02)),
        *(effect("csbm-homophily", 0.9), effect("cora", 0.01)),
    )
    assert found.graphs == ("chameleon-filtered", "cora")
    assert found.mean == pytest.approx(0.015)


def test_one_distinct_graph_is_no_mean():
    assert over(effect("texas", 0.02), effect("cornell", 0.04)) == []


def test_a_graph_with_another_budget_is_left_out():
    given = effect("cora", 0.01), effect("actor", 0.03), effect("photo", 0.5)
    (found,) = over(*given, trials={"photo": 64})
    assert (found.graphs, found.left_out) == (("cora", "actor"), ("photo",))


def test_declined_penalties_count_as_no_effect():
    (found,) = over(effect("cora", 0.0, 0.0, 0), effect("actor", 0.04))
    assert found.mean == pytest.approx(0.02)
    assert found.these_half == pytest.approx(stats.t.ppf(0.975, 9) * 0.01 / 2)


class TestShiftPart:
    """Two runs that differ in their splits."""

    def runs(self):
        def score(gain: float, seed: int):
            noise = np.random.default_rng(seed).normal(0, 0.01, (6, 10))
            arms = ("on", "off", "cross", "plain", "nl", "any")
            return lambda graph, arm, i: float(
                0.7 + gain * (arm in ("on", "cross")) + noise[arms.index(arm), i]
            )

        balanced = run_with(score(0.05, 1), protocol="balanced-60-20-20")
        random = run_with(score(0.01, 2))
        return [replace(balanced, name="balanced"), replace(random, name="random")]

    def test_the_difference_of_both_effects_has_welchs_interval(self):
        first, second = compare_all(self.runs())
        (found,) = shift_part_of(first, second)
        values = []
        for run in self.runs():
            plain, clar = sorted(run.studies, key=lambda study: study.method)
            s = {
                arm: np.array([f.test_score for f in clar.arm(arm)])
                for arm in ("on", "off", "cross")
            }
            other = np.array([f.test_score for f in plain.finals])
            values.append((s["on"] - s["off"] + s["cross"] - other) / 2)
        interval = stats.ttest_ind(*values, equal_var=False).confidence_interval(0.95)
        assert found.difference == pytest.approx(values[0].mean() - values[1].mean())
        assert found.half == pytest.approx((interval.high - interval.low) / 2)
        assert found.protocols == ("balanced-60-20-20", "random-60-20-20")

    def test_they_are_two_tables_and_a_third(self):
        text = render(documents_of(compare_all(self.runs()), apart=True), "terminal")
        assert text.count("What can be concluded") == 2
        assert "Effects differ between these splits in 1 of 1 cell" in text
        assert "The part of each effect that comes with the splits, in points" in text
        assert "balanced-60-20-20" in text and "difference" in text

    def test_they_are_not_one_table(self):
        with pytest.raises(StoreError, match="cannot stand in one table"):
            compare(self.runs())

    def test_other_runs_are_joined_or_refused_as_ever(self):
        first, _ = self.runs()
        with pytest.raises(StoreError, match="both hold"):
            compare_all([first, replace(first, name="again")])
        old = replace(first, name="old", row=replace(first.row, numbers=1))
        with pytest.raises(StoreError, match="version of the numbers"):
            compare_all([self.runs()[1], old])
