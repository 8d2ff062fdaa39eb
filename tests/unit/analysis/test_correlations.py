"""Correlations of a run: which numbers enter, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.final_scores import NEW_DATA
from support.swept_scores import SAMPLING, SENSITIVITY, alike, rising, run, table

from clar_tune.analysis.comparison import compare


def of(comparison, graph, method="gcn+clar"):
    return [c for c in comparison.correlations if (c.graph, c.method) == (graph, method)]


class TestSpearman:
    """A key against the scores."""

    def test_it_is_over_the_scores_of_all_finals(self):
        (found,) = of(table(SENSITIVITY, rising), "cora")
        pairs = [
            (samples, rising("gcn+clar", {"samples": samples}, index))
            for samples in (1, 2, 4, 16)
            for index in range(6)
        ]
        assert found.coefficient == pytest.approx(stats.spearmanr(pairs).statistic)
        assert (found.pairs, found.units, found.metric) == (24, 6, "accuracy")
        assert found.low < found.coefficient < found.high

    def test_values_and_points_ascend_as_numbers_do(self):
        (found,) = of(table(SENSITIVITY, rising), "cora")
        assert found.values == ("1", "2", "4", "16")
        assert [point.x for point in found.points] == [1, 2, 4, 16]
        assert [point.condition for point in found.points][-1] == "samples=16"
        means = [
            np.mean([rising("gcn+clar", {"samples": s}, i) for i in range(6)]) for s in (1, 2)
        ]
        assert [point.y for point in found.points[:2]] == pytest.approx(means)

    def test_there_is_one_for_every_graph_and_method_beside_the_papers(self):
        found = table(SENSITIVITY, rising).correlations
        assert [(c.graph, c.method, c.paper) for c in found] == [
            ("cora", "gcn+clar", -0.059),
            ("cora", "gat+clar", 0.200),
            ("cs", "gcn+clar", -0.034),
            ("cs", "gat+clar", -0.104),
        ]

    def test_what_is_apart_from_zero_is_named(self):
        text = table(SENSITIVITY, rising).headline
        assert text.startswith("Score and samples go together in 2 of 4 cases (gcn+clar on cora +")

    def test_equal_scores_have_no_coefficient_and_it_is_said(self):
        found = table(SENSITIVITY, lambda method, condition, index: 0.7)
        assert {c.coefficient for c in found.correlations} == {None}
        assert "the scores there do not vary" in found.headline

    def test_other_keys_are_held_fixed(self):
        text = SENSITIVITY.replace("{samples: [1, 2, 16, 4]}", "{layers: [2, 4], samples: [1, 8]}")
        found = of(table(text, rising), "cora")
        assert [c.condition for c in found] == ["layers=2", "layers=4"]
        assert [c.paper for c in found] == [None, None]

    def test_a_study_without_finals_is_left_out(self):
        whole = run(SENSITIVITY, rising)
        kept = [s for s in whole.studies if (s.graph, s.condition) != ("cora", "samples=16")]
        (found,) = of(compare([replace(whole, studies=tuple(kept))]), "cora")
        assert found.values == ("1", "2", "4")

    def test_finals_that_not_all_values_have_do_not_count(self):
        whole = run(SENSITIVITY, rising)
        cut = [
            replace(s, finals=s.finals[:4]) if s.condition == "samples=2" else s
            for s in whole.studies
        ]
        (found,) = of(compare([replace(whole, studies=tuple(cut))]), "cora")
        assert (found.units, found.pairs) == (4, 16)


class TestPearson:
    """Scores under two values of a key, over the cells of the others."""

    def test_it_is_over_the_mean_scores_of_the_cells(self):
        found = of(table(SAMPLING, alike), "cora")[0]
        assert found.values == ("node", "edge") and found.pairs == 6
        x, y = ([getattr(point, end) for point in found.points] for end in "xy")
        assert found.coefficient == pytest.approx(stats.pearsonr(x, y).statistic)
        assert x[:2] == pytest.approx([0.602, 0.622])
        assert found.points[-1].condition == "alpha=1,beta=1"
        assert found.low < found.coefficient < found.high

    def test_every_pair_of_values_is_compared_and_the_papers_stands_beside_one(self):
        found = table(SAMPLING, alike).correlations
        assert [(c.graph, c.values, c.paper) for c in found] == [
            ("cora", ("node", "edge"), 0.8067),
            ("cora", ("node", "any"), None),
            ("cora", ("edge", "any"), None),
            ("texas", ("node", "edge"), None),
            ("texas", ("node", "any"), None),
            ("texas", ("edge", "any"), None),
        ]

    def test_only_the_values_that_are_named_are_compared(self):
        text = SAMPLING.replace("{pearson: sampling}", "{pearson: sampling, of: [edge, any]}")
        assert {c.values for c in table(text, alike).correlations} == {("edge", "any")}

    def test_cells_that_are_the_same_training_are_counted(self):
        found = of(table(SAMPLING, alike), "cora")[1]  # node and any
        assert found.identical == 3  # beta is 0
        x, y = ([getattr(p, end) for p in found.points if "beta=1" in p.condition] for end in "xy")
        assert found.apart == pytest.approx(stats.pearsonr(x, y).statistic)

    def test_equal_scores_of_different_trainings_are_none_of_them(self):
        whole = run(SAMPLING, alike)
        other = [
            replace(s, finals=tuple(replace(f, val_loss=0.1) for f in s.finals))
            if "sampling=any" in s.condition
            else s
            for s in whole.studies
        ]
        found = of(compare([replace(whole, studies=tuple(other))]), "cora")
        assert [c.identical for c in found] == [5, 0, 0]

    def test_the_difference_is_over_all_cells_and_paired_by_final(self):
        found = of(table(SAMPLING, alike), "cora")[1]
        gaps = [(0.008 + 0.001 * index) / 2 for index in range(5)]  # in half of the cells
        half = stats.t.ppf(0.975, 4) * (np.var(gaps, ddof=1) / 5) ** 0.5
        assert (found.gap, found.gap_half) == pytest.approx((0.005, half))

    def test_the_difference_of_repeated_searches_is_over_them(self):
        whole = run(SAMPLING, alike, replicates=2)
        later = [
            replace(s, finals=tuple(replace(f, test_score=f.test_score + 0.01) for f in s.finals))
            if s.search == 1 and "sampling=any" in s.condition
            else s
            for s in whole.studies
        ]
        found = of(compare([replace(whole, studies=tuple(later))]), "cora")[1]
        gaps = [(0.008 + 0.001 * index) / 2 for index in range(5)]
        between, within = np.var([0.0, 0.01], ddof=1), np.var(gaps, ddof=1)
        assert found.gap_half == pytest.approx(stats.t.ppf(0.975, 1) * (between / 2) ** 0.5)
        half = stats.t.ppf(0.975, 1) * (between / 2 + 200 / 600 * within) ** 0.5
        found = of(compare([replace(whole, studies=tuple(later))], NEW_DATA), "cora")[1]
        assert found.units == 2
        assert (found.gap, found.gap_half) == pytest.approx((0.01, half))

    def test_cells_that_lack_one_value_are_left_out(self):
        whole = run(SAMPLING, alike)
        lost = ("cora", "alpha=1,beta=1,sampling=edge")
        kept = [s for s in whole.studies if (s.graph, s.condition) != lost]
        found = of(compare([replace(whole, studies=tuple(kept))]), "cora")
        assert [c.pairs for c in found] == [5, 6, 5]

    def test_a_cell_that_is_not_complete_changes_no_other(self):
        whole = run(SAMPLING, alike)
        cut = [
            replace(s, finals=s.finals[:2])
            if (s.graph, s.condition) == ("cora", "alpha=0,beta=1,sampling=edge")
            else s
            for s in whole.studies
        ]
        before, found = (
            of(compare([replace(whole, studies=tuple(studies))]), "cora")[0]
            for studies in (whole.studies, cut)
        )
        assert (found.pairs, found.units) == (6, 2)
        changed = {a.condition for a, b in zip(before.points, found.points, strict=True) if a != b}
        assert changed == {"alpha=0,beta=1"}
        gaps = [0.005 / 6] * 2 + [0.005 / 5] * 3  # five finals, three of them in five cells
        assert found.gap == pytest.approx(np.mean(gaps))

    def test_cells_whose_finals_do_not_meet_are_left_out(self):
        whole = run(SAMPLING, alike)
        apart = {"sampling=node": slice(0, 2), "sampling=edge": slice(2, 4)}
        cut = [
            replace(s, finals=s.finals[part])
            if (part := apart.get(s.condition.rpartition(",")[2]))
            else s
            for s in whole.studies
        ]
        found = of(compare([replace(whole, studies=tuple(cut))]), "cora")
        assert [c.values for c in found] == [("node", "any"), ("edge", "any")]

    def test_samplings_stand_side_by_side_in_the_table(self):
        found = table(SAMPLING, alike)
        assert found.methods == tuple(f"gcn+clar sampling={s}" for s in ("node", "edge", "any"))
        assert len(found.rows) == 12

    def test_what_is_concluded(self):
        text = " ".join(table(SAMPLING, alike).conclusions)
        assert "Scores under sampling=node and sampling=any: Pearson's coefficient is " in text
        assert "sampling=any less sampling=node: +0.50 ± 0.10 points on cora" in text
        assert "3 of 6 cells are the very same trainings under sampling=node and" in text

    def test_a_cell_without_weights_is_not_blamed_on_validation(self):
        found = table(SAMPLING, alike)
        text = " ".join((*found.conclusions, *found.remarks))
        assert "Validation chose" not in text and "declined" not in text


def test_a_space_without_the_key_has_no_correlation():
    assert table(SAMPLING.replace("correlate: {pearson: sampling}", ""), alike).correlations == ()


def test_runs_about_other_correlations_are_not_joined():
    one = run(SENSITIVITY, rising)
    row = replace(one.row, correlate={"spearman": "alpha"})
    with pytest.raises(Exception, match="correlate is"):
        compare([one, replace(one, name="other", row=row)])
