"""Effects of penalties: arms in, differences in both scopes and verdicts out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from support.arm_scores import answers, run_with
from support.final_scores import CLEAR, effect_of, table

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.effect_records import Criteria, PenaltyEffect
from clar_tune.analysis.scopes import SplitDifferences, over_nodes, over_splits_of_stein
from clar_tune.errors import ClarTuneError
from clar_tune.precision import finals_to_decide

J = 10
NOISE = np.random.default_rng(1).normal(0, 0.01, (4, J)).round(4)
LEVELS = {"on": 0.70, "off": 0.66, "cross": 0.69, "plain": 0.68, "nl": 0.695, "any": 0.70}


def scores(**levels: float):
    """Of each arm a level, and noise that on, off, cross and plain do not share."""
    own = LEVELS | levels

    def score(graph: str, arm: str, index: int) -> float:
        noise = NOISE[list(LEVELS).index(arm) % 4, index % J]
        return float(own[arm] + noise)

    return score


def arms(**levels: float) -> dict[str, np.ndarray]:
    score = scores(**levels)
    return {arm: np.array([score("", arm, i) for i in range(J)]) for arm in LEVELS}


def found(score=None, criteria: Criteria | None = None, **options) -> PenaltyEffect:
    run = run_with(score or scores(), **options)
    return effect_of(compare([run], criteria or Criteria()), "gcn+clar")


class TestHalves:
    """The effect is the mean of both halves, formed split by split."""

    def test_it_is_the_paired_t_of_the_mean_of_both_differences(self):
        a, effect = arms(), found()
        d = (a["on"] - a["off"] + a["cross"] - a["plain"]) / 2
        test = stats.ttest_1samp(d, 0)
        interval = test.confidence_interval(0.95)
        assert effect.effect == pytest.approx(d.mean())
        assert effect.half == pytest.approx((interval.high - interval.low) / 2)
        assert (effect.p, effect.units, effect.unit) == (pytest.approx(test.pvalue), J, "split")
        assert effect.verdict == "better"

    def test_both_halves_are_told(self):
        a, effect = arms(), found()
        for value, half, d in (
            (effect.kept, effect.kept_half, a["on"] - a["off"]),
            (effect.crossed, effect.crossed_half, a["cross"] - a["plain"]),
            (effect.on_plain, effect.on_plain_half, a["on"] - a["plain"]),
        ):
            interval = stats.ttest_1samp(d, 0).confidence_interval(0.95)
            assert value == pytest.approx(d.mean())
            assert half == pytest.approx((interval.high - interval.low) / 2)

    def test_what_the_complement_adds_is_told(self):
        a, effect = arms(), found()
        assert effect.over_nl == pytest.approx((a["on"] - a["nl"]).mean())
        assert effect.over_any == pytest.approx((a["on"] - a["any"]).mean())
        assert found(beta="0").over_nl is None, "without its term there is nothing to compare"

    def test_equality_is_two_one_sided_tests(self):
        effect = found(scores(off=0.70, plain=0.69))
        a = arms(off=0.70, plain=0.69)
        d = (a["on"] - a["off"] + a["cross"] - a["plain"]) / 2
        lower = stats.ttest_1samp(d, -0.01, alternative="greater").pvalue
        upper = stats.ttest_1samp(d, 0.01, alternative="less").pvalue
        assert effect.p_equal == pytest.approx(max(lower, upper))
        assert effect.verdict == "equal"

    def test_the_margin_is_that_of_the_run_or_of_the_reader(self):
        near = scores(off=0.70, plain=0.69)
        assert found(near, Criteria(margin=0.001)).verdict == "undecided"
        run = run_with(near)
        strict = replace(run, row=replace(run.row, margin=0.001))
        assert effect_of(compare([strict]), "gcn+clar").verdict == "undecided"
        with pytest.raises(ClarTuneError, match="margin 100 points"):
            Criteria(margin=1.0)

    def test_without_a_plain_study_there_is_one_half(self):
        comparison = compare([run_with(scores(), methods="gcn+clar")])
        effect = effect_of(comparison, "gcn+clar")
        assert effect.effect == effect.kept and effect.crossed is None
        assert any(text.startswith("Only on less off") for text in comparison.conclusions)

    def test_seeds_of_a_split_file_are_averaged_first(self):
        effect = found(finals=2 * J, protocol="geom-gcn")
        assert (effect.units, effect.unit) == (10, "file")

    def test_seeds_of_a_single_split_are_the_units(self):
        run = run_with(scores(), graphs="cora", protocol="planetoid")
        effect = effect_of(compare([run]), "gcn+clar", "cora")
        assert (effect.units, effect.unit, effect.nodes_half) == (J, "seed", None)

    def test_balanced_accuracy_has_an_effect_of_its_own(self):
        levels = {"on": 0.5, "off": 0.6, "cross": 0.5, "plain": 0.6}
        effect = found(more=lambda arm, i: {"test_balanced": levels.get(arm, 0.5) + 0.001 * i})
        assert effect.balanced == pytest.approx(-0.1) and effect.effect > 0

    def test_stein_takes_the_spread_of_the_first(self):
        run = run_with(scores())
        rule = {"half_width": 0.4, "at_least": 4, "at_most": 10}
        studies = tuple(
            replace(s, planned=replace(s.planned, precision=rule)) for s in run.studies
        )
        effect = effect_of(compare([replace(run, studies=studies)]), "gcn+clar")
        a = arms()
        d = (a["on"] - a["off"] + a["cross"] - a["plain"]) / 2
        wanted = over_splits_of_stein(d, 4)
        assert (effect.half, effect.freedom) == (pytest.approx(wanted.half_width()), 3)
        assert effect.at_cap

    def test_runs_without_arms_have_no_effect(self):
        comparison = compare([run_with(scores(), ablation=False)])
        assert comparison.effects == ()
        assert comparison.headline.startswith("CLAR: effect not measured, arms were not trained")
        (sentence,) = (text for text in comparison.conclusions if "Arms were not" in text)
        assert "`clar-tune extend simulated --ablation` adds them" in sentence
        (contrast,) = comparison.contrasts
        assert contrast.gain == pytest.approx((arms()["on"] - arms()["plain"]).mean())

    def test_winners_with_equal_shared_parameters_are_their_own_arms(self):
        effect = effect_of(compare([table(CLEAR, ablation=False)]), "gcn+clar")
        assert effect.effect == effect.kept == effect.crossed == pytest.approx(0.102)

    def test_a_penalty_that_is_off_has_exactly_no_effect(self):
        run = run_with(scores(), beta="0", methods="gcn, gcn+clar")
        run = replace(
            run,
            studies=tuple(
                replace(
                    s,
                    arms={},
                    trials=tuple(
                        replace(t, params={**t.params, "alpha": 0.0, "beta": 0.0})
                        for t in s.trials
                    ),
                )
                if s.method == "gcn+clar"
                else s
                for s in run.studies
            ),
        )
        effect = effect_of(compare([run]), "gcn+clar")
        assert (effect.effect, effect.half, effect.verdict) == (0.0, 0.0, "unused")


class TestFamilies:
    """All cells planned for one regularizer and protocol."""

    GRAPHS = ("texas", "cora", "actor")

    def comparison(self, **options):
        shift = {"texas": 0.0, "cora": 0.001, "actor": 0.004}

        def score(graph: str, arm: str, index: int) -> float:
            with_penalty = arm in ("on", "cross")
            wave = 0.02 * np.sin(3.0 * index + len(graph))
            return float(0.7 + with_penalty * (shift[graph] * 4 + 0.4 * wave))

        run = run_with(score, graphs=", ".join(self.GRAPHS), **options)
        return compare([run])

    def test_both_procedures_of_holm_agree_with_statsmodels(self):
        effects = self.comparison().effects
        for raw, corrected in (("p", "p_holm"), ("p_equal", "p_equal_holm")):
            p = [getattr(effect, raw) for effect in effects]
            _, wanted, *_ = multipletests(p, method="holm")
            assert [getattr(e, corrected) for e in effects] == pytest.approx(list(wanted))

    def test_a_look_halves_the_level(self):
        run = run_with(scores(on=0.69, cross=0.695, off=0.68, plain=0.688))
        p = effect_of(compare([run]), "gcn+clar").p
        look = int(np.floor(np.log2(0.05 / p))) + 1
        again = compare([replace(run, row=replace(run.row, looks=look))])
        assert p < 0.05 and effect_of(compare([run]), "gcn+clar").verdict == "better"
        assert effect_of(again, "gcn+clar").verdict != "better"
        assert any(text.startswith(f"Finals were added {look} time") for text in again.caption)

    def test_the_needed_finals_are_told_from_the_spread_and_the_margin(self):
        effects = self.comparison().effects
        for effect in (e for e in effects if e.verdict == "undecided"):
            wanted = finals_to_decide(effect.spread, 0.01, 3)
            assert effect.needed == (wanted if wanted > J else None)

    def test_no_number_of_finals_lowers_the_error_for_new_data(self):
        wild = scores(off=0.70, plain=0.69)
        effect = found(wild, Criteria(interval="nadeau-bengio", margin=0.005))
        assert (effect.verdict, effect.needed, effect.reason) == ("undecided", None, "nodes")


class TestGuards:
    """What stands in the way of a verdict."""

    def floors(self, floor: float):
        return lambda arm, index: {"floor": floor}

    def test_neither_side_above_the_floor(self):
        effect = found(more=self.floors(0.9))
        assert (effect.above_floor, effect.plain_above_floor) == (False, False)
        assert effect.verdict == "at the floor"

    def test_only_the_side_above_the_floor_can_be_better(self):
        comparison = compare([run_with(scores(off=0.60, plain=0.61), more=self.floors(0.65))])
        effect = effect_of(comparison, "gcn+clar")
        assert (effect.above_floor, effect.plain_above_floor) == (True, False)
        assert effect.verdict == "better"
        worse = found(scores(on=0.60, cross=0.61), more=self.floors(0.65))
        assert (worse.above_floor, worse.verdict) == (False, "worse")

    def test_a_score_is_above_the_floor_by_its_paired_interval(self):
        run = run_with(scores(), more=lambda arm, index: {"floor": 0.675 + 0.001 * index})
        comparison = compare([run])
        for method, arm in (("gcn", "plain"), ("gcn+clar", "on")):
            d = arms()[arm] - (0.675 + 0.001 * np.arange(J))
            low = stats.ttest_1samp(d, 0).confidence_interval(0.95).low
            score = comparison.score(comparison.rows[0], method)
            assert score.above_floor == (low > 0)
        assert comparison.rows[0].floor == pytest.approx(0.6795)

    def test_better_needs_a_winner_that_does_not_lose_to_the_plain_one(self):
        effect = found(scores(on=0.64, off=0.58, cross=0.69, plain=0.68))
        assert effect.effect > 0 and effect.p_holm < 0.05
        assert effect.on_plain + effect.on_plain_half < 0
        assert effect.verdict != "better"

    def test_collapses_ask_for_the_test_of_sign_flips_and_forbid_equality(self):
        def fallen(graph: str, arm: str, index: int) -> float:
            return scores()(graph, arm, index) - 0.4 * (arm == "on" and index == 0)

        comparison = compare([run_with(fallen)])
        effect = effect_of(comparison, "gcn+clar")
        assert (effect.collapsed, effect.finals, effect.verdict) == (1, 4 * J, "undecided")
        assert comparison.score(comparison.rows[0], "gcn+clar").collapsed == 1
        said = " ".join(comparison.conclusions)
        assert "gcn+clar on texas (1 of 40 collapsed)" in said


class TestNodes:
    """The second scope: these nodes as a sample."""

    NODES = 60

    def masks(self, index: int):
        draw = np.random.default_rng(index)
        tested = np.zeros(self.NODES, bool)
        tested[draw.permutation(self.NODES)[:12]] = True
        return tested

    def correct(self, arm: str, index: int):
        draw = np.random.default_rng([index, list(LEVELS).index(arm)])
        return draw.random(self.NODES) < (0.8 if arm in ("on", "cross") else 0.6)

    def run(self, **options):
        return run_with(
            scores(),
            more=lambda arm, i: answers(self.masks(i), self.correct(arm, i)),
            **options,
        )

    def test_it_is_the_mean_of_both_halves_node_by_node(self):
        effect = effect_of(compare([self.run()]), "gcn+clar")
        splits = []
        for i in range(J):
            x = {arm: self.correct(arm, i).astype(float) for arm in LEVELS}
            d = (x["on"] - x["off"] + x["cross"] - x["plain"]) / 2
            nodes = np.flatnonzero(self.masks(i))
            splits.append(SplitDifferences(nodes, d[nodes]))
        wanted = over_nodes(splits)
        assert effect.effect == pytest.approx(wanted.mean)
        assert effect.nodes_half == pytest.approx(wanted.half_width())
        assert effect.scope == "splits"

    def test_withheld_nodes_make_it_the_scope_of_verdicts(self):
        comparison = compare([self.run(outer_test=0.2)])
        effect = effect_of(comparison, "gcn+clar")
        assert (comparison.scope, effect.scope) == ("nodes", "nodes")
        assert effect.p > effect_of(compare([self.run()]), "gcn+clar").p
        assert any("this test set, new training splits" in text for text in comparison.caption)

    def test_finals_without_answers_have_the_first_scope_alone(self):
        effect = found()
        assert effect.nodes_half is None and effect.half is not None
