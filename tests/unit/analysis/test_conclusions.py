"""What may be called better or worse, what may not, and how the page says so."""

import math
from dataclasses import replace
from statistics import fmean

import pytest
from scipy import stats
from support.final_scores import CLEAR, GRID, NEW_DATA, PLAIN, effect_of, of, table
from support.results import finished, plausible

from clar_tune.analysis.comparison import DEFAULTS, compare
from clar_tune.analysis.effect_records import Criteria
from clar_tune.analysis.records import Comparison
from clar_tune.report import document_of, render
from clar_tune.report.builders.penalty_effects import effects_page_table


def printed(form: str, comparison: Comparison) -> str:
    return render([document_of(comparison)], form)


SEARCHED = """
description: clar is searched
graphs: [{graphs}]
methods: [gcn, gcn+clar]
protocol: {protocol}
search: {{trials: 4, repeats: 1, pruning: false, sampler: random}}
finals: 10
settings:
  tuned:
    shared: {{lr: {{choices: [0.1, 0.2, 0.3, 0.4]}}}}
    regularizers: {{clar: {{alpha: 1, beta: 1}}}}
"""


def searched(
    gains: list[float],
    protocol: str = "planetoid",
    graph: str = "cora",
    criteria: Criteria = DEFAULTS,
    floor: float | None = 0.1,
    fallen: int = 0,
) -> Comparison:
    """One search for each gain of clar; its finals vary by 0.01 around it.

    So many finals of clar have ``fallen`` in the first search.
    """

    def train(job, index):
        search = seeds.setdefault(job.seed, len(seeds))
        own = gains[search] + 0.01 * (-1) ** index if "clar" in job.spec.method else 0.0
        score = 0.6 + own if job.purpose == "final" else 0.5
        done = plausible(job, index)
        if job.purpose == "final":
            below = 0.5 * ("clar" in job.spec.method and search == 0 and index < fallen)
            return replace(done, test_score=score - below, floor=floor)
        return replace(done, record=replace(done.record, val_score=score))

    seeds: dict[int, int] = {}
    text = SEARCHED.format(graphs=graph, protocol=protocol)
    return compare([finished(text, train, replicates=len(gains))], criteria)


def _scored(study, scores: dict[str, list[float]]):
    """A study whose finals have other scores, those without a penalty the plain ones."""

    def changed(finals, method):
        own = scores.get(method, PLAIN)
        return tuple(replace(f, test_score=own[f.repeat]) for f in finals)

    arms = {
        name: changed(finals, study.method.partition("+")[0] if name == "off" else study.method)
        for name, finals in study.arms.items()
    }
    return replace(study, finals=changed(study.finals, study.method), arms=arms)


def said(texts) -> str:
    return " ".join(texts)


class TestSearches:
    """Where searches are repeated, the search is the unit."""

    def test_two_searches_of_many_finals_allow_no_verdict(self):
        found = searched([-0.260, -0.0046])
        score, contrast = of(found, "gcn+clar", "cora")
        assert (score.searches, score.units, score.budget.finals) == (2, 2, 20)
        assert (contrast.units, contrast.p, contrast.verdict) == (2, None, "none")
        assert contrast.reason == "searches"
        assert "one needs 10 searches (--searches 10), and there are 2" in said(
            (*found.conclusions, *found.remarks)
        )

    def test_the_interval_is_over_searches(self):
        _, contrast = of(searched([-0.260, -0.0046]), "gcn+clar", "cora")
        interval = stats.ttest_1samp([-0.260, -0.0046], 0).confidence_interval(0.95)
        assert contrast.gain == pytest.approx(-0.1323)
        assert contrast.half_width == pytest.approx((interval.high - interval.low) / 2)

    def test_ten_searches_are_tested_over_the_ten(self):
        gains = [0.10, 0.12, 0.09, 0.11, 0.10] * 2
        _, contrast = of(searched(gains), "gcn+clar", "cora")
        assert contrast.p == pytest.approx(stats.ttest_1samp(gains, 0).pvalue)
        assert (contrast.units, contrast.verdict) == (10, "better")
        _, noisy = of(searched([0.3, -0.1, -0.02, 0.25, 0.0] * 2), "gcn+clar", "cora")
        assert noisy.verdict == "undecided"

    def test_nine_searches_describe_a_cell(self):
        _, contrast = of(searched([0.10, 0.12, 0.09] * 3), "gcn+clar", "cora")
        assert (contrast.p, contrast.verdict, contrast.reason) == (None, "none", "searches")

    def test_from_five_searches_the_mean_over_graphs_has_a_verdict(self):
        gains = [0.10, 0.12, 0.09, 0.11, 0.10]
        five = searched(gains, "balanced-60-20-20", "texas, cora")
        (over,) = (own for own in five.over_graphs if own.question == "gain")
        test = stats.ttest_1samp(gains, 0)
        interval = test.confidence_interval(0.95)
        assert (over.method, over.graphs) == ("gcn+clar", ("texas", "cora"))
        assert over.mean == pytest.approx(fmean(gains))
        assert (over.p, over.verdict) == (pytest.approx(test.pvalue), "better")
        assert over.these_half == pytest.approx((interval.high - interval.low) / 2)
        four = searched(gains[:4], "balanced-60-20-20", "texas, cora")
        assert not [own for own in four.over_graphs if own.question == "gain"]

    TEN = (0.10, 0.12, 0.09, 0.11, 0.10) * 2

    def test_only_what_beats_a_constant_can_gain(self):
        def verdict(floor: float | None, gains=self.TEN) -> str:
            return of(searched(list(gains), floor=floor), "gcn+clar", "cora")[1].verdict

        assert (verdict(0.1), verdict(0.65), verdict(0.8)) == ("better", "better", "at the floor")
        assert verdict(None) == "undecided"
        losses = [-gain for gain in self.TEN]
        assert (verdict(0.55, losses), verdict(0.65, losses)) == ("worse", "at the floor")

    def test_the_same_holds_for_the_mean_over_graphs(self):
        def verdict(floor: float | None) -> str:
            found = searched(list(self.TEN[:5]), "balanced-60-20-20", "texas, cora", floor=floor)
            (over,) = (own for own in found.over_graphs if own.question == "gain")
            return over.verdict

        assert (verdict(0.65), verdict(0.8)) == ("better", "at the floor")
        assert verdict(None) == "undecided"

    def test_collapses_ask_for_the_test_of_sign_flips(self):
        """Of five searches no flip of signs has a p below 2 in 32; nor is equality told."""
        whole = searched(list(self.TEN[:5]), "balanced-60-20-20", "texas, cora")
        fallen = searched(list(self.TEN[:5]), "balanced-60-20-20", "texas, cora", fallen=1)
        (before,), (after,) = (
            [own for own in found.over_graphs if own.question == "gain"]
            for found in (whole, fallen)
        )
        assert (before.verdict, after.verdict) == ("better", "undecided")
        assert after.p == pytest.approx(2 / 32)
        _, ten = of(searched(list(self.TEN), fallen=1), "gcn+clar", "cora")
        assert ten.p >= 2 / 1024
        same = [0.001, -0.001] * 5
        assert of(searched(same), "gcn+clar", "cora")[1].verdict == "equal"
        _, hidden = of(searched(same, fallen=1), "gcn+clar", "cora")
        assert hidden.verdict == "undecided"

    def test_splits_that_share_nodes_widen_it_by_the_spread_within_searches(self):
        gains = [0.10, 0.12, 0.09, 0.11, 0.10]
        _, contrast = of(searched(gains, "balanced-60-20-20", "texas", NEW_DATA), "gcn+clar")
        between = sum((gain - 0.104) ** 2 for gain in gains) / 4
        within = 10 * 0.01**2 / 9
        half = stats.t.ppf(0.975, 4) * (between / 5 + 65 / 82 * within) ** 0.5
        assert contrast.half_width == pytest.approx(half)

    def test_gains_are_paired_final_by_final_within_a_search(self):
        run = finished(SEARCHED.format(graphs="cora", protocol="planetoid"), replicates=2)
        short = [
            replace(s, finals=s.finals[:4]) if (s.method, s.search) == ("gcn+clar", 0) else s
            for s in run.studies
        ]
        _, contrast = of(compare([replace(run, studies=tuple(short))]), "gcn+clar", "cora")
        finals = {(s.method, s.search): [f.test_score for f in s.finals] for s in short}
        first, second = (
            [a - b for a, b in zip(finals["gcn+clar", k], finals["gcn", k], strict=False)]
            for k in (0, 1)
        )
        assert (len(first), len(second)) == (4, 10)
        assert contrast.gain == pytest.approx((sum(first) / 4 + sum(second) / 10) / 2)

    def test_the_unit_is_stated(self):
        found = searched([0.1, 0.2])
        assert found.unit == "search"
        assert "interval over 2 searches, each of which is one unit" in said(found.caption)
        assert "over seeds" not in said(found.caption)
        assert "pairs: searches that both have" in printed("terminal", found)
        assert not any("not a search" in text for text in found.caption)

    def test_one_search_has_its_finals_for_units(self):
        found = searched([0.1])
        assert (found.unit, of(found, "gcn+clar", "cora")[1].units) == ("final", 10)
        assert "interval and test over seeds" in said(found.caption)


class TestSpread:
    """Gains that are all the same."""

    def test_they_have_no_test_and_it_is_said(self):
        scores = {**CLEAR, "gcn+clar": [score + 1 / 65 for score in PLAIN]}
        found = compare([table(scores)])
        effect = effect_of(found, "gcn+clar")
        assert (effect.half, effect.p, effect.verdict) == (0.0, 1.0, "undecided")
        assert effect.reason == "spread"
        assert "gcn+clar on texas (+1.54 ± 0.00; the same in every pair" in said(found.conclusions)

    def test_they_still_count_in_the_family(self):
        run = table(CLEAR, graphs="texas, cora")
        same = {"gcn": PLAIN, "gcn+clar": [score + 1 / 65 for score in PLAIN]}
        studies = tuple(
            _scored(study, same) if study.graph == "cora" else study for study in run.studies
        )
        effect = effect_of(compare([replace(run, studies=studies)]), "gcn+clar")
        assert effect.p_holm == pytest.approx(2 * effect.p)


class TestDetectable:
    """What could have been found at all."""

    def test_it_is_that_of_holms_first_step(self):
        found = compare([table(CLEAR, graphs="texas, cora, actor")])
        effect = effect_of(found, "gcn+clar")
        alone = effect_of(compare([table(CLEAR)]), "gcn+clar")
        assert effect.half == alone.half
        assert effect.detectable > 1.3 * alone.detectable
        assert "of a regularizer (nl 3, clar 3)" in said(found.caption)

    def test_one_comparison_is_told_as_one(self):
        wild = {"gcn": PLAIN, "gcn+clar": PLAIN[::-1]}
        found = compare([table(wild, methods=("gcn", "gcn+clar"))])
        assert found.headline == "CLAR: effect decided in 0 of 1 cell: undecided in 1"
        (sentence,) = (text for text in found.conclusions if text.startswith("Undecided"))
        assert sentence == "Undecided: gcn+clar on texas (+0.00 ± 7.85; about 348 finals)."

    def test_what_would_decide_it_does_not_depend_on_what_was_found(self):
        wild = {"gcn": PLAIN, "gcn+clar": [score + 0.02 for score in PLAIN[::-1]]}
        found = compare([table(wild, methods=("gcn", "gcn+clar"))])
        assert effect_of(found, "gcn+clar").needed == 348

    def test_beyond_the_scale_it_is_printed_as_none(self):
        found = compare([table(CLEAR)])
        wild = replace(effect_of(found, "gcn+clar"), detectable=1.3)
        shown = effects_page_table(replace(found, effects=(wild,)))
        at = [column.title for column in shown.columns].index("detectable")
        assert shown.lines[0].cells[at].text == "none"


class TestWeights:
    """Winners of clar that are something else."""

    def found(self, weights: str) -> Comparison:
        text = GRID.format(graphs="texas", protocol="balanced-60-20-20", finals=5)
        return compare([finished(text.replace("{alpha: 1, beta: 1}", weights))])

    def test_clar_without_beta_is_marked_as_nl(self):
        found = self.found("{alpha: 1, beta: 0}")
        marked = {score.method for score in found.scores if score.without_complement}
        assert marked == {"gcn+clar"}
        assert "chose beta 0, which is nl, for gcn+clar on texas" in said(found.conclusions)
        text = printed("terminal", found)
        assert "gcn+clar¶" in text and "¶ beta 0: no complement, as in nl" in text

    @pytest.mark.parametrize("weights", ["{alpha: 0, beta: 0}", "{alpha: 1, beta: 1}"])
    def test_other_weights_are_not(self, weights):
        found = self.found(weights)
        assert not any(score.without_complement for score in found.scores)
        assert "¶" not in printed("terminal", found)


def test_equal_means_share_the_star_and_the_rank():
    above = [math.nextafter(score, 1) for score in PLAIN]
    assert fmean(above) > fmean(PLAIN)
    found = compare([table({"gcn": PLAIN, "gcn+nl": above, "gcn+clar": PLAIN[::-1]})])
    assert [score.best for score in found.scores] == [True] * 3
    assert [standing.rank for standing in found.standings] == [2.0] * 3


def test_protocols_and_the_sizes_of_their_splits_are_stated():
    found = compare([table(CLEAR, graphs="texas, cora")])
    row = found.rows[0]
    assert (row.train_nodes, row.val_nodes, row.test_nodes) == (82, 36, 65)
    (sentence,) = (text for text in found.caption if text.startswith("balanced-60-20-20 ("))
    assert "per class int(0.6 N / C) training nodes" in sentence
    assert sentence.endswith("nodes that train/validate/test: texas 82/36/65, cora 600/200/200.")
    record = printed("csv", found).splitlines()
    assert ",82,36,65," in record[1]


@pytest.mark.parametrize(
    ("protocol", "chance"), [("balanced-60-20-20", ""), ("random-60-20-20", ", by chance")]
)
def test_rows_with_much_label_shift_are_named_for_each_protocol(protocol, chance):
    shifts = {"texas": 0.304, "cornell": 0.11, "cora": 0.09}

    def train(job, index):
        done = plausible(job, index)
        return replace(done, shift=shifts[job.spec.graph]) if job.purpose == "final" else done

    text = GRID.format(graphs=", ".join(shifts), protocol=protocol, finals=3)
    (line,) = (line for line in compare([finished(text, train)]).caption if "label shift" in line)
    assert line == (
        f"{protocol}: label shift (total variation between the class shares of training and test "
        f"nodes) over 0.1{chance} on texas 0.30, cornell 0.11."
    )


def test_the_papers_table_is_named_only_where_it_says_something():
    text = GRID.replace("protocol:", "paper: III\nprotocol:")
    beside = text.format(graphs="texas", protocol="balanced-60-20-20", finals=5)
    apart = text.format(graphs="cora", protocol="planetoid", finals=5)
    found = compare([finished(apart)])
    assert found.paper_table is None
    assert "of the paper" not in printed("terminal", found)
    assert not any(sentence.startswith("Paper: ") for sentence in found.caption)
    assert "beside Table III of the paper" in printed("terminal", compare([finished(beside)]))


def test_seconds_are_those_of_the_search_and_of_the_winners_finals():
    assert "seconds: the search and the finals of its winner." in " ".join(
        printed("terminal", compare([table(CLEAR)])).split()
    )


def test_one_study_is_told_as_one():
    run = table(CLEAR, methods=("gcn",))
    bare = replace(run, studies=tuple(replace(s, finals=()) for s in run.studies))
    found = compare([bare])
    assert "No finals yet for 1 of 1 study: gcn on texas." in found.conclusions
    assert found.across.reason == "no method has finals yet."
