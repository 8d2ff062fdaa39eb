"""Questions that a space asks: which winners answer them, with which verdicts, in which words."""

from dataclasses import replace

import pytest
from scipy import stats
from support.results import finished, plausible
from support.swept_scores import DEPTH, deep, run, table

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.effect_records import Criteria
from clar_tune.analysis.planned import values_of
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.statistics import holm
from clar_tune.report import build_page, document_of, render
from clar_tune.rows import Question

OWN = "support.own_classes:OwnNetwork"
FIXED = """
graphs: [cora, texas]
methods: [gcn, sage, "{own}"]
protocol: balanced-60-20-20
finals: 6
question: {{compare: backbones, baseline: {baseline}}}
settings: {{tuned: {{}}}}
"""
GAINS = {"sage": [0.01, -0.01, 0.02, -0.02, 0.01, 0.0], OWN: [0.1, 0.12, 0.09, 0.11, 0.1, 0.12]}


def scored(method: str, condition: dict[str, str], index: int) -> float:
    """Methods ahead of gcn by what they gain there."""
    return 0.7 + 0.005 * index + (GAINS[method][index] if method in GAINS else 0.0)


def fixed(baseline: str = "gcn", **options) -> Comparison:
    return table(FIXED.format(own=OWN, baseline=baseline), scored, **options)


def said(comparison: Comparison) -> str:
    return " ".join(comparison.conclusions)


class TestBackbones:
    """Plain winners against a baseline, those of a user's own among them."""

    def test_without_a_search_finals_decide(self):
        found = {(c.method, c.graph): c for c in fixed().backbones}
        own = found[OWN, "cora"]
        test = stats.ttest_1samp(GAINS[OWN], 0)
        assert own.against == "gcn" and own.verdict == "better" and own.reason == ""
        assert own.p == pytest.approx(test.pvalue)
        interval = test.confidence_interval(0.95)
        assert own.half_width == pytest.approx((interval.high - interval.low) / 2)
        assert found["sage", "cora"].verdict == "undecided"
        assert found["sage", "cora"].needed > 6

    def test_all_planned_cells_of_the_question_are_one_family(self):
        cells = fixed().backbones
        assert {cell.family for cell in cells} == {4}
        assert [c.p_holm for c in cells] == pytest.approx(holm([c.p for c in cells]))

    def test_a_cell_without_finals_counts_too(self):
        whole = run(FIXED.format(own=OWN, baseline="gcn"), scored)
        kept = [s for s in whole.studies if (s.method, s.graph) != ("sage", "cora")]
        cells = compare([replace(whole, studies=tuple(kept))]).backbones
        assert len(cells) == 3 and {cell.family for cell in cells} == {4}
        (own, _) = (cell for cell in cells if cell.method == OWN)
        assert own.p_holm == pytest.approx(4 * own.p)

    def test_the_answer_is_the_headline_and_one_conclusion(self):
        found = fixed()
        assert found.questions == (Question("backbones", "gcn"),)
        assert found.headline == (
            f"Backbones against gcn: sage undecided in 2 of 2 cells; {OWN} better in 2 of 2 cells"
        )
        (answer,) = (text for text in found.conclusions if text.startswith("Backbones"))
        assert answer.startswith("Backbones against gcn, accuracy (points). sage: undecided on ")
        assert f"{OWN}: better on cora (+10.67 ± 1.27), on texas (+10.67 ± 1.27)." in answer
        assert answer.endswith(
            "Verdicts on these configurations, not searched here, after Holm's correction "
            "over all 4 planned cells."
        )
        assert any(
            "of a question and regularizer (4), once for differences" in text
            for text in found.caption
        )

    def test_the_baseline_turns_the_question_round(self):
        found = fixed(f'"{OWN}"')
        assert found.baseline == OWN
        assert {(c.method, c.verdict) for c in found.backbones} == {
            *(("gcn", "worse"), ("sage", "worse"))
        }

    def test_few_finals_decide_nothing(self):
        found = fixed()
        few = run(FIXED.format(own=OWN, baseline="gcn").replace("finals: 6", "finals: 4"), scored)
        cells = compare([few]).backbones
        assert {(c.verdict, c.reason, c.p) for c in cells} == {("none", "finals", None)}
        assert "verdicts need 5 finals" in said(compare([few])) != said(found)

    def test_withheld_nodes_decide_nothing(self):
        cells = fixed(outer_test=0.2).backbones
        assert {(c.verdict, c.reason) for c in cells} == {("none", "nodes")}

    def test_what_a_constant_scores_must_be_known(self):
        whole = run(FIXED.format(own=OWN, baseline="gcn"), scored)
        studies = [
            replace(study, finals=tuple(replace(final, floor=None) for final in study.finals))
            for study in whole.studies
        ]
        found = compare([replace(whole, studies=tuple(studies))])
        assert {(c.verdict, c.reason) for c in found.backbones} == {("none", "floor")}
        assert "what a constant answer scores is not stored" in said(found)

    def test_beside_another_question_they_are_described(self):
        text = FIXED.replace("gcn, sage", "gcn, sage, gcn+clar").format(own=OWN, baseline="gcn")
        about = text.replace("{compare: backbones, baseline: gcn}", "{compare: regularizers}")
        found = table(about, scored)
        assert {(c.verdict, c.reason) for c in found.backbones} == {("none", "search")}
        assert found.headline.startswith("CLAR: ")

    def test_who_names_a_baseline_asks(self):
        asking = FIXED.replace("question", "# question").format(own=OWN, baseline="gcn")
        found = compare([run(asking, scored)], Criteria(baseline="sage"))
        assert found.headline.startswith("Backbones against sage: gcn undecided in 2")

    def test_a_run_without_penalties_is_about_backbones(self):
        nothing = FIXED.replace("question", "# question").format(own=OWN, baseline="gcn")
        assert table(nothing, scored).headline == fixed().headline

    @pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "csv", "json"])
    def test_every_format_has_p_and_verdict(self, form):
        shown = render([document_of(fixed())], form)
        assert "better" in shown and "p_holm" in shown.replace("\\", "")

    def test_so_has_the_page(self):
        page = build_page([run(FIXED.format(own=OWN, baseline="gcn"), scored)])
        assert "Backbones against gcn, winners side by side" in page
        assert "not searched here" in page


SEARCHED = """
graphs: [texas, cora]
methods: [gcn, sage]
protocol: balanced-60-20-20
search: {trials: 4, repeats: 1, pruning: false, sampler: random}
finals: 5
question: {compare: backbones}
settings: {tuned: {shared: {lr: {choices: [0.1, 0.2, 0.3, 0.4]}}}}
"""


def searched(gains: list[float]) -> Comparison:
    """One search for each gain of sage."""

    def train(job, index):
        gain = gains[seeds.setdefault(job.seed, len(seeds))] * (job.spec.backbone == "sage")
        return replace(plausible(job, index), test_score=0.6 + gain + 0.01 * (-1) ** index)

    seeds: dict[int, int] = {}
    return compare([finished(SEARCHED, train, replicates=len(gains))])


class TestSearches:
    """What was searched has luck of the search in it."""

    TEN = (0.10, 0.12, 0.09, 0.11, 0.10) * 2

    def test_one_search_is_a_description(self):
        found = searched([0.1])
        assert {(c.verdict, c.reason, c.p) for c in found.backbones} == {("none", "search", None)}
        assert found.headline.startswith("Backbones against gcn: sage on texas ")
        assert found.headline.endswith(": one search each, no verdict")
        assert "to which --searches 10 gives verdicts" in said(found)

    def test_ten_searches_decide_cells(self):
        found = searched([*self.TEN])
        assert {c.verdict for c in found.backbones} == {"better"}
        assert found.backbones[0].p == pytest.approx(stats.ttest_1samp(self.TEN, 0).pvalue)
        assert "Verdicts over searches, after Holm's correction over all 2" in said(found)

    def test_five_searches_decide_the_mean_over_graphs(self):
        found = searched([*self.TEN[:5]])
        assert {c.reason for c in found.backbones} == {"searches"}
        (over,) = (own for own in found.over_graphs if own.question == "backbone")
        assert (over.method, over.verdict) == ("sage", "better")


LAYERS = """
graphs: [cora]
methods: [gcn, gcn+clar]
protocol: planetoid
conditions: [{sweep: {layers: [2, 4, 8]}}]
finals: 5
question: {compare: layers, baseline: 4}
settings: {tuned: {regularizers: {clar: {alpha: 1}}}}
"""


def layered(method: str, condition: dict[str, str], index: int) -> float:
    """Worse with eight layers; with two the same but for a little now and then."""
    lost = 0.1 + 0.01 * index if condition["layers"] == "8" else 0.0
    return 0.7 - lost + 0.0001 * (-1) ** index * (condition["layers"] == "2")


class TestValues:
    """Values of a key of conditions against one of them."""

    def test_each_value_meets_the_baseline_of_its_method(self):
        places = [("cora", f"layers={n},size=1", "gcn") for n in (2, 4)]
        column = [("cora", "size=1", f"gcn+clar layers={n}") for n in (2, 4)]
        lone = ("cora", "layers=2,size=3", "gcn")
        found = values_of([*places, *column, lone], "layers", "4")
        assert [(plan.place, plan.against, plan.named) for plan in found] == [
            (places[0], places[1], "layers=4"),
            (column[0], column[1], "layers=4"),
        ]

    def test_the_answer_goes_along_the_sweep(self):
        found = table(LAYERS, layered)
        verdicts = {(c.method, c.condition, c.against): c.verdict for c in found.values}
        assert verdicts == {
            ("gcn", "layers=2", "layers=4"): "equal",
            ("gcn", "layers=8", "layers=4"): "worse",
            ("gcn+clar", "layers=2", "layers=4"): "equal",
            ("gcn+clar", "layers=8", "layers=4"): "worse",
        }
        assert {c.family for c in found.values} == {2}  # of each regularizer, and of none
        assert found.headline == (
            "Values of layers against 4: gcn worse in 1, equal in 1 of 2 cells; gcn+clar worse in "
            "1, equal in 1 of 2 cells"
        )
        assert (
            "gcn: worse at layers=8 (-12.00 ± 1.96); equal within 1 point at layers=2 (+0.00 ± "
            "0.01)"
        ) in said(found)

    def test_a_small_difference_is_told_as_one(self):
        def little(method, condition, index):
            return 0.7 + (condition["layers"] == "2") * (0.002 + 0.0001 * index)

        found = table(LAYERS, little)
        assert ("better", True) in {(c.verdict, c.small) for c in found.values}
        assert "better at layers=2 (+0.22 ± 0.02; by less than 1 point)" in said(found)
        assert "better (< 1 point)" in render([document_of(found)], "terminal")

    def test_effects_are_told_beside_it(self):
        assert any(text.startswith("CLAR: ") for text in table(LAYERS, layered).conclusions)

    @pytest.mark.parametrize("form", ["terminal", "markdown", "latex"])
    def test_it_has_a_table(self, form):
        assert "Against layers=4" in render([document_of(table(LAYERS, layered))], form)

    def test_csv_and_json_have_records(self):
        document = document_of(table(LAYERS, layered))
        assert render([document], "csv").count(",value,cora,layers=") == 4
        assert document.stored["values"][0]["against"] == "layers=4"
        assert document.stored["questions"] == [{"compare": "layers", "baseline": "4"}]

    def test_a_sweep_of_one_method_is_about_its_only_key(self):
        text = LAYERS.replace("question", "# question").replace("gcn, gcn+clar", "gcn")
        found = table(text.replace("regularizers: {clar: {alpha: 1}}", ""), layered)
        assert found.questions == (Question("layers", "2"),)
        assert found.headline.startswith(
            "Values of layers against 2: gcn on cora (layers=4) equal"
        )


class TestPenaltiesAlongASweep:
    """One conclusion that goes through all rows, where the space asks for it."""

    ASKING = DEPTH.replace("finals: 5", "finals: 5\nquestion: {compare: regularizers}")

    def test_every_cell_stands_in_one_conclusion(self):
        found = table(self.ASKING, deep)
        assert found.headline == "CLAR: effect decided in 4 of 4 cells: better in 4"
        (answer,) = (t for t in found.conclusions if t.startswith("At these configurations"))
        assert "gcn+clar clamp=1: better at layers=2 (+1.02 ± 0.02" in answer
        assert "gcn+clar clamp=10: better at layers=2 (+10.02 ± 0.02), 8 (+10.02" in answer
        assert "gcn+dropedge: equal within 1 point at layers=2 (identical finals), 8 (" in answer

    def test_what_is_open_says_what_would_decide_it(self):
        def noisy(method, condition, index):
            return 0.6 + 0.05 * (-1) ** index * ("clar" in method)

        found = table(self.ASKING, noisy)
        assert "undecided at layers=2 (" in said(found) and "; about " in said(found)
        assert not any(text.startswith("Undecided: ") for text in found.conclusions)

    def test_who_asks_nothing_reads_what_was_read_before(self):
        before, now = table(DEPTH, deep), table(self.ASKING, deep)
        assert before.effects == now.effects and before.questions == ()
        assert said(before) != said(now)

    def test_without_arms_tuned_gains_are_described_along_the_sweep(self):
        found = table(DEPTH.replace("finals: 5", "finals: 5\nablation: false"), deep)
        if not found.effects:
            assert "Tuned gains over the plain backbone" in said(found)


def test_runs_that_ask_differently_are_asked_nothing():
    one = run(LAYERS, layered)
    other = run(LAYERS.replace("cora", "citeseer").replace("baseline: 4", "baseline: 2"), layered)
    assert compare([one, replace(other, name="other")]).questions == ()
