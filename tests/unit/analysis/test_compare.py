"""Finals side by side: hand-made scores in, means, gains, verdicts and sentences out."""

from dataclasses import replace

import pytest
from scipy import stats
from support.final_scores import CLEAR, GRID, NEW_DATA, PLAIN, effect_of, of, table
from support.results import finished, plausible, simulated, view

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.runs import RunView
from clar_tune.errors import StoreError
from clar_tune.version import NUMBERS_VERSION


def test_a_score_is_the_mean_with_the_corrected_interval():
    score, _ = of(compare([table(CLEAR)], NEW_DATA), "gcn")
    variance = 0.001  # of the five scores
    half = stats.t.ppf(0.975, 4) * ((1 / 5 + 65 / 82) * variance) ** 0.5
    assert score.mean == pytest.approx(0.64)
    assert score.half_width == pytest.approx(half)
    assert (score.units, score.searches, score.search_spread) == (5, 1, None)


def test_a_score_has_students_interval_over_splits():
    score, _ = of(compare([table(CLEAR)]), "gcn")
    interval = stats.ttest_1samp(PLAIN, 0).confidence_interval(0.95)
    assert score.mean == pytest.approx(0.64)
    assert score.half_width == pytest.approx((interval.high - interval.low) / 2)


def test_a_gain_is_paired_and_tested_with_the_sizes_of_its_rows():
    comparison = compare([table(CLEAR)], NEW_DATA)
    _, contrast = of(comparison, "gcn+clar")
    effect = effect_of(comparison, "gcn+clar")
    gains = [0.10, 0.10, 0.11, 0.10, 0.10]
    mean = sum(gains) / 5
    variance = sum((gain - mean) ** 2 for gain in gains) / 4
    t = mean / ((1 / 5 + 65 / 82) * variance) ** 0.5
    assert contrast.gain == effect.effect == pytest.approx(mean)
    assert effect.p == pytest.approx(2 * stats.t.sf(t, 4))
    assert contrast.half_width == pytest.approx(effect.half)
    assert (effect.verdict, contrast.verdict, contrast.reason) == ("better", "none", "search")


def test_holm_counts_every_planned_comparison():
    comparison = compare([table(CLEAR)])
    # nl and clar with gcn, clar with nl
    assert comparison.family == 3
    rivals = [contrast for contrast in comparison.contrasts if contrast.rival]
    assert [(c.method, c.against) for c in rivals] == [("gcn+clar", "gcn+nl")]
    three = compare([table(CLEAR, graphs="texas, cora, actor")])
    own = [effect for effect in three.effects if effect.regularizer == "clar"]
    assert [effect.family for effect in own] == [3, 3, 3]
    assert min(e.p_holm for e in own) == pytest.approx(3 * min(e.p for e in own))


def test_a_part_of_a_space_is_said_to_be_one():
    text = GRID.format(graphs="texas, cornell", protocol="balanced-60-20-20", finals=5)
    part = compare([finished(text, plausible, graphs=("texas",))]).caption
    assert any("not by its space: graphs texas." in s for s in part)
    assert not any("not by its space" in s for s in compare([table(CLEAR)]).caption)


def test_a_study_that_is_missing_still_counts_in_the_family():
    run = table(CLEAR, graphs="texas, cora")
    lost = ("gcn+clar", "cora")
    kept = tuple(s for s in run.studies if (s.method, s.graph) != lost)
    comparison = compare([replace(run, studies=kept)])
    assert comparison.family == 6
    effect = effect_of(comparison, "gcn+clar")
    assert effect.p_holm == pytest.approx(2 * effect.p)
    missing = effect_of(comparison, "gcn+clar", "cora")
    assert (missing.verdict, missing.reason, missing.effect) == ("none", "missing", None)
    assert any("No finals yet for 1 of 6 studies" in text for text in comparison.conclusions)


def test_fixed_splits_are_paired_over_seeds_without_the_correction():
    score, contrast = of(compare([table(CLEAR, protocol="geom-gcn")]), "gcn")
    assert score.half_width == pytest.approx(stats.t.ppf(0.975, 4) * (0.001 / 5) ** 0.5)
    comparison = compare([table(CLEAR, protocol="geom-gcn")])
    assert "fixed split" in comparison.rows[0].notes
    assert any("more finals add seeds, not splits" in text for text in comparison.caption)


def test_seeds_of_a_split_file_are_averaged():
    scores = {method: [*own, *own[::-1]] * 2 for method, own in CLEAR.items()}  # ten files
    comparison = compare([table(scores, protocol="geom-gcn")])
    score, _ = of(comparison, "gcn")
    assert (score.units, score.budget.finals) == (10, 20)
    assert effect_of(comparison, "gcn+clar").units == 10


def test_seeds_of_one_fixed_split_are_units_of_their_own():
    comparison = compare([table(CLEAR, graphs="cora", protocol="planetoid")])
    assert of(comparison, "gcn", "cora")[0].units == 5
    assert any("conditional on the split" in text for text in comparison.caption)


def test_coauthor_splits_give_an_interval_and_a_verdict():
    comparison = compare([table(CLEAR, graphs="cs", protocol="coauthor-20-30")])
    score, contrast = of(comparison, "gcn+clar", "cs")
    assert score.half_width == pytest.approx(
        stats.t.ppf(0.975, 4) * (0.00102 / 5) ** 0.5, rel=0.01
    )
    assert contrast.half_width is not None
    effect = effect_of(comparison, "gcn+clar", "cs")
    assert effect.p == pytest.approx(stats.ttest_1samp([0.1, 0.1, 0.11, 0.1, 0.1], 0).pvalue)
    assert effect.verdict == "better"
    assert "no verdict" not in comparison.rows[0].notes


def test_too_few_finals_allow_no_verdict():
    few = {method: scores[:4] for method, scores in CLEAR.items()}
    comparison = compare([table(few)])
    effect = effect_of(comparison, "gcn+clar")
    assert (effect.verdict, effect.needed) == ("undecided", 5)
    assert effect.p_holm == effect.p_equal_holm == 1.0
    assert any(
        "gcn+clar on texas (+10.25 ± 0.80; about 5 finals)" in t for t in comparison.conclusions
    )


def test_a_clear_loss_is_said():
    worse = {**CLEAR, "gcn+clar": [score - 0.1 for score in CLEAR["gcn+clar"]][::-1]}
    worse["gcn+clar"] = [0.50, 0.52, 0.55, 0.56, 0.58]
    comparison = compare([table(worse)])
    assert effect_of(comparison, "gcn+clar").verdict == "worse"
    assert comparison.headline == "CLAR: effect decided in 1 of 1 cell: better in none, worse in 1"
    assert any("orse: gcn+clar on texas (-9.80 ± 0.56)" in t for t in comparison.conclusions)


def test_equal_scores_are_a_tie_and_equal():
    comparison = compare([table(dict.fromkeys(CLEAR, PLAIN))])
    _, contrast = of(comparison, "gcn+nl")
    effect = effect_of(comparison, "gcn+nl")
    assert (contrast.gain, effect.effect, effect.verdict) == (0.0, 0.0, "equal")
    standing = comparison.standings[1]
    assert (standing.wins, standing.ties, standing.losses) == (0, 1, 0)
    assert all(comparison.score(comparison.rows[0], method).best for method in CLEAR)


def test_every_row_has_a_best_method_whatever_the_rounding():
    comparison = compare([finished()])
    for row in comparison.rows:
        assert any(comparison.score(row, method).best for method in comparison.methods)


def test_standings_count_rows_and_rank_methods():
    comparison = compare([table(CLEAR, graphs="texas, cora")])
    by_method = {standing.method: standing for standing in comparison.standings}
    clar = by_method["gcn+clar"]
    assert (clar.rows, clar.bests, clar.wins, clar.losses, clar.rank) == (2, 2, 2, 0, 1.0)
    assert (by_method["gcn+nl"].rank, by_method["gcn"].rank) == (2.0, 3.0)
    assert (clar.budget.finals, clar.budget.trials, clar.budget.repeats) == (10, 2, 0)


def test_the_papers_numbers_stand_beside_ours():
    comparison = compare([finished()])
    score, contrast = of(comparison, "gcn+clar")
    assert comparison.paper_table == "III"
    assert score.paper == pytest.approx(0.7138)
    assert contrast.paper_gain == pytest.approx(0.7138 - 0.6492)


def test_finals_of_a_former_winner_are_left_out():
    row, memory = simulated()
    final = next(final for final in memory.finals if final.method == "gcn+clar")
    other = replace(final, trial=final.trial + 1, test_score=0.0)
    before = compare([view(row, memory)])
    memory.finals.append(other)
    assert compare([view(row, memory)]) == before


def test_an_idle_penalty_is_named():
    def idle(job, index):
        done = plausible(job, index)
        return replace(done, record=replace(done.record, penalty_active=0.004))

    text = GRID.format(graphs="texas", protocol="balanced-60-20-20", finals=5)
    sentences = compare([finished(text, idle)]).conclusions
    assert any("gcn+clar on texas (0.4 %)" in sentence for sentence in sentences)


def test_hardly_any_remote_pair_is_named():
    def near(job, index):
        done = plausible(job, index)
        return replace(done, record=replace(done.record, facts={"remote_share": 6e-5}))

    text = GRID.format(graphs="texas", protocol="balanced-60-20-20", finals=5)
    comparison = compare([finished(text, near)])
    (sentence,) = (text for text in comparison.remarks if text.startswith("madreg sets"))
    assert sentence.endswith("hardly any pair of nodes is remote on texas (0.006 %).")
    assert not any("remote" in text for text in compare([finished(text)]).remarks)


def test_a_weight_of_zero_is_named():
    text = GRID.format(graphs="texas", protocol="balanced-60-20-20", finals=5)
    text = text.replace("{alpha: 1, beta: 1}", "{alpha: 0, beta: 0}")
    comparison = compare([finished(text)])
    assert of(comparison, "gcn+clar")[0].weightless
    assert any("weight 0" in sentence for sentence in comparison.conclusions)


def test_unequal_budgets_are_named():
    comparison = compare([finished()])
    assert any("Unequal budgets on texas" in text for text in comparison.remarks) == (
        len({s.budget.trials for s in comparison.scores if s.graph == "texas"}) > 1
    )


def test_a_run_without_finals_is_an_empty_table():
    run = finished()
    comparison = compare(
        [replace(run, studies=tuple(replace(study, finals=()) for study in run.studies))]
    )
    assert (comparison.rows, comparison.scores, comparison.contrasts) == ((), (), ())


class TestJoining:
    """Several runs in one table."""

    def halves(self) -> list[RunView]:
        one = table(CLEAR, graphs="texas")
        other = table(CLEAR, graphs="cora")
        return [one, replace(other, name="other")]

    def test_runs_on_different_graphs_become_one_table(self):
        comparison = compare(self.halves())
        assert [row.graph for row in comparison.rows] == ["texas", "cora"]
        assert comparison.family == 6
        assert comparison.runs == ("simulated", "other")

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            pytest.param(
                {"numbers": 1}, f"version of the numbers is {NUMBERS_VERSION} and 1", id="numbers"
            ),
            pytest.param(
                {"numbers": NUMBERS_VERSION - 1},
                f"version of the numbers is {NUMBERS_VERSION} and {NUMBERS_VERSION - 1}",
                id="numbers of the last version",
            ),
            pytest.param({"settings": "paper"}, "settings is tuned and paper", id="settings"),
        ],
    )
    def test_other_rules_are_refused(self, change, told):
        one, other = self.halves()
        with pytest.raises(StoreError, match=told):
            compare([one, replace(other, row=replace(other.row, **change))])

    def test_another_budget_is_refused(self):
        one, other = self.halves()
        budget = {**other.budget, "trials": 99}
        with pytest.raises(StoreError, match="trials is 16 and 99"):
            compare([one, replace(other, row=replace(other.row, budget=budget))])

    def test_the_same_study_twice_is_refused(self):
        one = table(CLEAR)
        with pytest.raises(StoreError, match="both hold gcn on texas"):
            compare([one, replace(one, name="other")])

    def test_another_seed_on_a_shared_graph_is_refused(self):
        one, other = table(CLEAR, methods=("gcn",)), table(CLEAR, methods=("gcn+clar",), seed=1)
        with pytest.raises(StoreError, match="--seed on texas is 0 and 1"):
            compare([one, replace(other, name="other")])

    def test_other_final_pairs_are_refused(self):
        one, other = table(CLEAR, methods=("gcn",)), table(CLEAR, methods=("gcn+clar",), seed=1)
        pretended = replace(other, name="other", row=replace(other.row, seed=0))
        with pytest.raises(StoreError, match=r"seeds of final 0 \(search 0\) of texas"):
            compare([one, pretended])

    def test_a_run_without_finals_vouches_for_nobody(self):
        one, other = table(CLEAR, methods=("gcn",)), table(CLEAR, methods=("gcn+clar",), seed=1)
        begun = table(CLEAR, methods=("gcn+nl",))
        bare = replace(begun, studies=tuple(replace(s, finals=()) for s in begun.studies))
        rows = [replace(run.row, seed=0) for run in (bare, one, other)]  # seeds alone tell nothing
        runs = [
            replace(run, name=name, row=row)
            for run, name, row in zip((bare, one, other), "hac", rows, strict=True)
        ]
        with pytest.raises(StoreError, match="a and c cannot stand in one table: seeds of final"):
            compare(runs)

    def test_other_contents_of_a_graph_are_refused(self):
        one, other = table(CLEAR, methods=("gcn",)), table(CLEAR, methods=("gcn+clar",))
        rows = [
            replace(run.row, graph_hashes={"texas": content})
            for run, content in ((one, "a"), (other, "b"))
        ]
        with pytest.raises(StoreError, match="content of texas is a and b"):
            compare([replace(one, row=rows[0]), replace(other, name="other", row=rows[1])])

    def test_mixed_versions_are_told(self):
        one, other = self.halves()
        row = replace(other.row, versions={"torch": "2.6.0"})
        comparison = compare([one, replace(other, row=row)])
        assert any("torch 2.13.0 and 2.6.0" in text for text in comparison.remarks)


def test_a_method_alone_in_its_row_is_not_the_best_of_it():
    alone, both = (
        compare([finished(graphs=("texas",), methods=methods)]).scores
        for methods in (("gcn",), ("gcn", "sage"))
    )
    assert [score.best for score in alone] == [False]
    assert sorted(score.best for score in both) == [False, True]
