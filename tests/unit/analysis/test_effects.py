"""Effects of penalties: arms in, differences in both scopes and verdicts out."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from support.arm_scores import answers, run_with
from support.final_scores import CLEAR, effect_of, table
from support.results import replanned

from clar_tune.analysis import conclusions
from clar_tune.analysis.comparison import compare
from clar_tune.analysis.effect_records import Criteria, PenaltyEffect
from clar_tune.analysis.runs import RunView
from clar_tune.analysis.scopes import (
    SplitDifferences,
    error_of_nodes,
    over_nodes,
    over_splits_of_stein,
)
from clar_tune.errors import ClarTuneError
from clar_tune.precision import finals_to_decide
from clar_tune.version import FIRST_WITH_ARMS, NUMBERS_VERSION

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


def with_precision(run: RunView, at_least: int, at_most: int, half_width: float = 0.4) -> RunView:
    """A run of which the manifest says that precision decided the number of finals."""
    rule = {"half_width": half_width, "at_least": at_least, "at_most": at_most}
    return replace(run, studies=tuple(replanned(s, precision=rule) for s in run.studies))


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

    def test_one_half_alone_is_never_better_and_is_told_at_once(self):
        comparison = compare([run_with(scores(), methods="gcn+clar")])
        effect = effect_of(comparison, "gcn+clar")
        assert effect.p_holm < 0.05 and effect.effect > 0
        assert (effect.verdict, effect.needed, effect.reason) == ("undecided", None, "half")
        assert comparison.conclusions[0].startswith("Only on less off")
        (legend,) = (text for text in comparison.caption if text.startswith("Effect of the pen"))
        assert "alone, as there is no plain winner" in legend and "cross" not in legend
        harm = scores(on=0.60)
        lower = effect_of(compare([run_with(harm, methods="gcn+clar")]), "gcn+clar")
        assert lower.verdict == "worse"

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
        run = with_precision(run_with(scores()), at_least=4, at_most=10)
        effect = effect_of(compare([run]), "gcn+clar")
        a = arms()
        d = (a["on"] - a["off"] + a["cross"] - a["plain"]) / 2
        wanted = over_splits_of_stein(d, 4)
        assert (effect.half, effect.freedom) == (pytest.approx(wanted.half_width()), 3)

    def test_the_cap_is_told_only_of_effects_that_asked_for_more(self):
        """A number of finals that another cell asked for, or one exactly at the cap, is none."""
        a = arms()
        d = ((a["on"] - a["off"] + a["cross"] - a["plain"]) / 2)[:4]
        exact = stats.t.ppf(0.975, 3) * d.std(ddof=1) / np.sqrt(J)
        for half_width, capped in ((0.4, False), (1.0001 * exact, False), (0.99 * exact, True)):
            run = with_precision(run_with(scores()), 4, J, half_width)
            comparison = compare([run])
            assert effect_of(comparison, "gcn+clar").at_cap == capped
            assert any("More finals were wanted" in t for t in comparison.caption) == capped

    def test_runs_without_arms_have_no_effect(self):
        comparison = compare([run_with(scores(), ablation=False)])
        assert comparison.effects == ()
        assert comparison.headline.startswith("CLAR: effect not measured, arms were not trained")
        (sentence,) = (text for text in comparison.conclusions if "Arms were not" in text)
        assert "`clar-tune extend simulated --ablation` adds them" in sentence
        (contrast,) = comparison.contrasts
        assert contrast.gain == pytest.approx((arms()["on"] - arms()["plain"]).mean())

    def test_an_older_run_keeps_its_effects_and_is_named(self):
        run = run_with(scores())
        old = replace(run, row=replace(run.row, numbers=NUMBERS_VERSION - 1))
        first, second = compare([run]), compare([old])
        assert second.effects == first.effects != ()
        assert second.headline == first.headline
        assert second.conclusions == first.conclusions
        (remark,) = set(second.remarks) - set(first.remarks)
        known = f"(now {NUMBERS_VERSION}): simulated {NUMBERS_VERSION - 1}."
        assert remark.startswith(f"Numbers of an older version {known}")

    def test_arms_cannot_be_added_to_an_older_run(self):
        run = run_with(scores(), ablation=False)
        old = replace(run, row=replace(run.row, numbers=NUMBERS_VERSION - 1))
        (sentence,) = (text for text in compare([old]).conclusions if "Arms were not" in text)
        assert "simulated has an older version of the numbers, so that none can" in sentence
        assert "extend" not in sentence

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


class TestOlderNumbers:
    """Numbers of versions without arms, floors and shift."""

    @staticmethod
    def older(run):
        return replace(run, row=replace(run.row, numbers=FIRST_WITH_ARMS - 1))

    def test_they_have_no_effects_even_where_winners_share_their_parameters(self):
        run = table(CLEAR, ablation=False)
        assert compare([run]).effects, "winners with equal shared parameters tell one"
        comparison = compare([self.older(run)])
        assert comparison.effects == comparison.over_graphs == ()

    def test_what_is_not_stored_is_said_in_the_headline_and_first_of_all(self):
        comparison = compare([self.older(table(CLEAR))])
        assert "older numbers: neither arms nor floor nor label shift" in comparison.headline
        assert comparison.conclusions[0] == (
            f"Stored by an older version of the numbers ({FIRST_WITH_ARMS - 1}, now "
            f"{NUMBERS_VERSION}), which has no effects: arms were not trained, floor and label "
            "shift are not stored, so that a constant answer may do as well. Tuned gains mix what "
            "the penalty does with what the search found."
        )

    def test_later_versions_keep_their_effects(self, monkeypatch):
        monkeypatch.setattr(conclusions, "NUMBERS_VERSION", NUMBERS_VERSION + 1)
        comparison = compare([table(CLEAR)])
        assert comparison.effects and not any("older" in text for text in comparison.conclusions)


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
        once, later = (effect_of(c, "gcn+clar").detectable for c in (compare([run]), again))
        assert later > once, "a stricter level finds less"

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

    def floors(self, floor: float | None):
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

    def test_without_a_known_floor_nothing_is_better_or_worse(self):
        for levels in ({}, {"on": 0.60, "cross": 0.61}):
            comparison = compare([run_with(scores(**levels), more=self.floors(None))])
            effect = effect_of(comparison, "gcn+clar")
            assert (effect.above_floor, effect.plain_above_floor) == (None, None)
            assert effect.p_holm < 0.05 and effect.verdict == "undecided"
            assert (effect.needed, effect.reason) == (None, "unknown floor")
            assert "whether it beats a constant is not known" in " ".join(comparison.conclusions)

    def test_more_finals_are_not_promised_to_help_against_the_floor(self):
        """The first finals agree, which decides their number; the later ones do not."""

        def score(graph: str, arm: str, index: int) -> float:
            wild = 0.06 * (-1) ** index if index > 3 else 0.0
            return 0.66 + (arm in ("on", "cross")) * (0.02 + 0.0001 * index + wild)

        run = with_precision(run_with(score, more=self.floors(0.65)), at_least=4, at_most=10)
        effect = effect_of(compare([run]), "gcn+clar")
        assert effect.p_holm < 0.05 and effect.verdict == "undecided"
        assert (effect.above_floor, effect.needed, effect.reason) == (False, None, "floor")

    def test_better_needs_a_winner_that_does_not_lose_to_the_plain_one(self):
        effect = found(scores(on=0.64, off=0.58, cross=0.69, plain=0.68))
        assert effect.effect > 0 and effect.p_holm < 0.05
        assert effect.on_plain + effect.on_plain_half < 0
        assert effect.verdict == "undecided"
        assert (effect.needed, effect.reason) == (None, "winner"), "no number of finals helps"

    def test_collapses_ask_for_the_test_of_sign_flips_and_forbid_equality(self):
        def fallen(graph: str, arm: str, index: int) -> float:
            return scores()(graph, arm, index) - 0.4 * (arm == "on" and index == 0)

        comparison = compare([run_with(fallen)])
        effect = effect_of(comparison, "gcn+clar")
        assert (effect.collapsed, effect.finals, effect.verdict) == (1, 4 * J, "undecided")
        assert comparison.score(comparison.rows[0], "gcn+clar").collapsed == 1
        said = " ".join(comparison.conclusions)
        assert "gcn+clar on texas (1 of 40 collapsed)" in said
        assert effect.p_holm == effect.p, "of a family of one, the p that was corrected"


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
        (told,) = (text for text in comparison.caption if text.startswith("±: "))
        assert "this test set, new training splits" in told

    def test_more_finals_do_not_help_only_where_nodes_alone_hide_it(self):
        """On seven nodes only ``on`` and ``cross`` are right, on two only the others are."""
        helped, harmed = np.arange(7) * 8, np.array([1, 31])
        gain = np.zeros(self.NODES)
        gain[helped], gain[harmed] = 1, -1

        def right(arm: str, index: int) -> dict:
            with_penalty = arm in ("on", "cross", "any", "nl")
            correct = (gain > 0) if with_penalty else (gain < 0)
            return {**answers(self.masks(index), correct | (gain == 0)), "floor": 0.1}

        run = run_with(scores(), more=right, outer_test=0.2)
        tested = [np.flatnonzero(self.masks(i)) for i in range(J)]
        alone = error_of_nodes([SplitDifferences(nodes, gain[nodes]) for nodes in tested])
        limit = (stats.norm.isf(0.05) + stats.norm.isf(0.1)) * alone
        for margin, reason in ((0.99 * limit, "nodes"), (1.01 * limit, "margin")):
            effect = effect_of(compare([run], Criteria(margin=margin)), "gcn+clar")
            assert (effect.verdict, effect.needed, effect.reason) == ("undecided", None, reason)

    def test_finals_without_answers_have_the_first_scope_alone(self):
        effect = found()
        assert effect.nodes_half is None and effect.half is not None
