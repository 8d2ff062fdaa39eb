"""Effects over distinct graphs, and between runs with other splits: worked examples."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.arm_scores import run_with
from support.results import replanned

from clar_tune.analysis.comparison import compare, compare_all
from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.over_graphs import effects_over_graphs
from clar_tune.analysis.records import Row
from clar_tune.analysis.shift_part import shift_part_of
from clar_tune.errors import StoreError
from clar_tune.graphs import known_facts
from clar_tune.records import to_stored
from clar_tune.report import documents_of, render
from clar_tune.report.builders.penalty_effects import over_graphs_table


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


def over(*effects: PenaltyEffect, trials: dict[str, int] | None = None, metric: str = "accuracy"):
    facts = {e.graph: known_facts(e.graph) for e in effects}
    budgets = {(e.graph, "", e.method): (trials or {}).get(e.graph, 16) for e in effects}
    rows = [
        Row(graph=e.graph, condition="", protocol=e.protocol, metric=metric, notes=())
        for e in effects
    ]
    return effects_over_graphs(effects, rows, facts, budgets)


def test_errors_are_told_in_their_own_unit():
    (found,) = over(effect("cora", 0.01), effect("actor", 0.03), metric="mse")
    assert found.metric == "mse" and to_stored(found)["metric"] == "mse"
    (usual,) = over(effect("cora", 0.01), effect("actor", 0.03))
    assert "metric" not in to_stored(usual)
    base = compare([run_with(lambda graph, arm, i: 0.7)])
    shown = [over_graphs_table(replace(base, over_graphs=(one,))) for one in (found, usual)]
    assert [table.title for table in shown] == [
        "Over distinct graphs",
        "Over distinct graphs, in points",
    ]
    assert [table.lines[0].cells[3].text for table in shown] == ["+0.0200", "+2.00"]


def test_graphs_with_other_finals_are_left_out():
    def score(graph: str, arm: str, index: int) -> float:
        return 0.7 + 0.01 * (arm in ("on", "cross")) + 0.001 * (index * len(graph) % 7)

    run = run_with(score, graphs="cora, actor, photo")
    more = tuple(replanned(s, finals=20) if s.graph == "photo" else s for s in run.studies)
    (found,) = compare([replace(run, studies=more)]).over_graphs
    assert (found.graphs, found.left_out) == (("cora", "actor"), ("photo",))


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

    def test_they_are_two_tables_and_a_third_before_them(self):
        text = render(documents_of(compare_all(self.runs()), apart=True), "terminal")
        assert text.count("What can be concluded") == 2
        assert text.splitlines()[1:3] == [
            "CLAR: the effect of the same configurations on balanced-60-20-20 less that on "
            "random-60-20-20:",
            "larger on balanced-60-20-20 in 1 and smaller in none of 1 cell, by unadjusted 95 % "
            "intervals",
        ]
        assert "Effects of the same configurations under both protocols, in points" in text
        assert "Only cells with the penalty in use in both runs." in " ".join(text.split())
        assert "balanced-60-20-20" in text and "difference" in text

    def test_with_other_configurations_it_is_no_part_of_the_splits(self):
        first, second = self.runs()
        searched = replace(
            second,
            studies=tuple(
                replace(
                    study,
                    trials=tuple(replace(t, params={**t.params, "lr": 0.5}) for t in study.trials),
                )
                if study.method == "gcn"
                else study
                for study in second.studies
            ),
        )
        compared = compare_all([first, searched])
        text = render(documents_of(compared, apart=True), "terminal")
        assert "Effects under both protocols (configurations differ too), in points" in text
        assert "same configurations" not in text
        assert (
            "CLAR: the effect on balanced-60-20-20 less that on random-60-20-20, where "
            "configurations differ too: larger on balanced-60-20-20 in 1 and smaller in none of 1 "
        ) in " ".join(text.split())
        (part,) = shift_part_of(*compared)
        assert not part.same

    def test_configurations_that_differ_in_some_cells_are_counted(self):
        compared = compare_all(self.runs())
        (clar,) = compared[1].effects
        other = replace(clar, method="sage+clar", configuration="another")
        pairs = [replace(c, effects=(*c.effects, other)) for c in compared]
        first = replace(pairs[0], effects=(clar, replace(other, configuration="one")))
        text = render(documents_of([first, pairs[1]], apart=True), "terminal")
        assert "where configurations differ too in 1 cell: larger" in " ".join(text.split())

    def test_cells_without_a_penalty_in_use_are_left_out(self):
        first, second = compare_all(self.runs())
        unused = tuple(replace(e, verdict="unused", error=0.0) for e in second.effects)
        assert shift_part_of(first, replace(second, effects=unused)) == []

    def test_only_clar_is_counted_and_the_floor_is_marked(self):
        def with_prior(comparison, verdict):
            (clar,) = comparison.effects
            prior = replace(clar, method="gcn+prior", regularizer="prior")
            return replace(comparison, effects=(prior, replace(clar, verdict=verdict)))

        first, second = compare_all(self.runs())
        both = [with_prior(first, "better"), with_prior(second, "at the floor")]
        text = " ".join(render(documents_of(both, apart=True), "terminal").split())
        assert text.split(" ", 1)[1].startswith("CLAR: the effect of the same configurations on")
        assert "of 1 cell (1 of them at the floor in a run), by unadjusted" in text
        assert "Only cells with the penalty or correction in use in both runs." in text
        assert text.count("⊥") == 2, "beside the number, and in the note"

    def test_programs_get_the_difference_with_its_interval(self):
        documents = documents_of(compare_all(self.runs()), apart=True)
        (part,) = shift_part_of(*compare_all(self.runs()))
        whole = json.loads(render(documents, "json"))
        assert [one["runs"] for one in whole["comparisons"]] == [["balanced"], ["random"]]
        (shift,) = whole["shift_parts"]
        (cell,) = shift["cells"]
        assert shift["runs"] == ["balanced", "random"] and shift["headline"]
        assert (cell["difference"], cell["half"]) == (part.difference, part.half)
        lines = list(csv.DictReader(render(documents, "csv").splitlines()))
        (line,) = [line for line in lines if line["record"] == "shift_part"]
        assert float(line["half"]) == pytest.approx(part.half)
        assert line["runs"] == "balanced random"

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
