"""Tables whose rows and columns are conditions: labels, gains within a row, ratios of errors."""

from dataclasses import replace

import pytest
from support.swept_scores import DEPTH, ERRORS, deep, run, table

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.layout import parts_of, split_label, to_cell, whole_condition
from clar_tune.analysis.planned import family_of
from clar_tune.analysis.records import Comparison
from clar_tune.errors import StoreError


class TestLabels:
    """Conditions that make rows, and those that make columns."""

    def test_a_key_moves_from_the_condition_to_the_method(self):
        place = ("cora", "clamp=10,layers=8", "gcn+clar")
        assert to_cell(place, ["clamp"]) == ("cora", "layers=8", "gcn+clar clamp=10")
        assert to_cell(place, ["clamp", "layers"]) == ("cora", "", "gcn+clar clamp=10,layers=8")
        assert to_cell(place, ["scale"]) == to_cell(place, []) == place

    def test_a_label_comes_apart_again(self):
        assert split_label("gcn+clar clamp=10,scale=2") == ("gcn+clar", "clamp=10,scale=2")
        assert split_label("gcn") == ("gcn", "")
        place = ("cora", "layers=8", "gcn+clar clamp=10")
        assert whole_condition(place) == {"layers": "8", "clamp": "10"}

    def test_values_may_hold_commas_and_signs(self):
        assert parts_of("note=a,b=c d,size=1") == {"note": "a", "b": "c d", "size": "1"}
        assert parts_of("note=a, b,size=1") == {"note": "a, b", "size": "1"}
        assert parts_of("") == {}


class TestColumns:
    """A column is a method under a part of its condition."""

    def test_rows_and_columns_stand_in_the_order_of_the_plan(self):
        found = table(DEPTH, deep)
        assert found.methods == ("gcn", "gcn+clar clamp=1", "gcn+clar clamp=10", "gcn+dropedge")
        assert [row.condition for row in found.rows] == ["layers=2", "layers=8"]
        assert found.columns == ("clamp",)
        assert [found.score(row, "gcn+clar clamp=10").mean for row in found.rows] == pytest.approx(
            [0.7002, 0.6002]
        )

    def test_a_gain_is_over_the_plain_backbone_of_the_same_row(self):
        found = table(DEPTH, deep)
        for row in found.rows:
            contrast = found.contrast(row, "gcn+clar clamp=10")
            assert (contrast.against, contrast.gain) == ("gcn", pytest.approx(0.1002))

    def test_clar_meets_its_rivals_in_every_column_but_not_itself(self):
        found = table(DEPTH, deep)
        rivals = [(c.condition, c.method, c.against) for c in found.contrasts if c.rival]
        assert rivals == [
            (row, f"gcn+clar clamp={clamp}", "gcn+dropedge")
            for row in ("layers=2", "layers=8")
            for clamp in (1, 10)
        ]
        # clar twice and dropedge over gcn, clar twice over dropedge, in both rows
        assert found.family == 10

    def test_conditions_are_no_distinct_graphs(self):
        found = table(DEPTH, deep)
        assert found.across.reason == "the rows are conditions of a sweep, not graphs."
        assert (found.across.planned, found.across.pairs) == ((), ())

    def test_verdicts_are_told_by_column(self):
        found = table(DEPTH, deep)
        assert found.headline == "CLAR: effect decided in 4 of 4 cells: better in 4"
        text = " ".join(found.conclusions)
        assert "gcn+clar clamp=1 on cora (layers=2) (+1.02 ± 0.02)" in text
        assert "gcn+clar clamp=10 on cora (layers=8) (+10.02 ± 0.02)" in text

    def test_runs_with_other_columns_are_not_joined(self):
        one, other = run(DEPTH, deep), run(DEPTH.replace("columns: [clamp]", ""), deep)
        with pytest.raises(StoreError, match=r'columns is \["clamp"\] and None'):
            compare([one, replace(other, name="other")])

    def test_a_run_without_the_column_in_its_manifest_reads_as_before(self):
        old = run(DEPTH, deep)
        found = compare([replace(old, row=replace(old.row, columns=None))])
        assert "clamp=10,layers=8" in [row.condition for row in found.rows]
        assert found.methods == ("gcn", "gcn+clar", "gcn+dropedge")


class TestFamily:
    """Which backbone a regularizer is compared with."""

    def against(self, *places):
        return {plan.place: plan.against for plan in family_of(places) if not plan.rival}

    def test_a_sweep_over_the_regularizers_own_parameter_leaves_the_backbone_alone(self):
        plain, own = ("cora", "", "gcn"), ("cora", "samples=4", "gcn+clar")
        assert self.against(plain, own) == {own: plain}

    def test_the_most_alike_backbone_is_taken(self):
        deep, flat = ("cora", "layers=8", "gcn"), ("cora", "", "gcn")
        own = ("cora", "layers=8,samples=4", "gcn+clar")
        assert self.against(flat, deep, own) == {own: deep}
        assert self.against(flat, own) == {own: flat}

    def test_a_backbone_under_another_condition_is_none(self):
        own = ("cora", "layers=8", "gcn+clar")
        assert self.against(("cora", "layers=4", "gcn"), own) == {}
        assert self.against(("texas", "layers=8", "gcn"), own) == {}

    def test_a_changed_graph_is_never_compared_with_the_whole_one(self):
        whole, own = ("cora", "", "gcn"), ("cora", "drop_edges=0.3,samples=4", "gcn+clar")
        assert self.against(whole, own) == {}
        changed = ("cora", "drop_edges=0.3", "gcn")
        assert self.against(whole, changed, own) == {own: changed}

    def test_a_backbone_with_a_column_of_its_own_is_met_there(self):
        plains = [("cora", "", f"gcn layers={layers}") for layers in (2, 8)]
        owns = [("cora", "", f"gcn+clar layers={layers}") for layers in (2, 8)]
        assert self.against(*plains, *owns) == dict(zip(owns, plains, strict=True))


class TestErrors:
    """Lower is better, and only ratios stand beside the paper's."""

    def found(self) -> Comparison:
        def score(method, condition, index):
            error = 0.5 if condition["filter"] == "high-pass" else 0.2
            return (error + 0.001 * index) * (0.9 if "+" in method else 1.0)

        return table(ERRORS, score)

    def test_a_lower_error_is_a_gain_and_the_best(self):
        found = self.found()
        row = found.rows[0]
        contrast = found.contrast(row, "gcn+clar")
        assert contrast.gain == pytest.approx(0.0502)
        assert found.effect(row, "gcn+clar").verdict == "better"
        assert found.effect(row, "gcn+clar").effect == pytest.approx(0.0502)
        assert found.score(row, "gcn+clar").best and not found.score(row, "gcn").best

    def test_the_ratio_is_that_of_the_mean_errors_beside_the_papers(self):
        found = self.found()
        high, low = (found.contrast(row, "gcn+clar") for row in found.rows)
        assert (high.ratio, low.ratio) == (pytest.approx(0.9), pytest.approx(0.9))
        assert high.paper_ratio == pytest.approx(41.5680 / 41.6940)
        assert low.paper_ratio == pytest.approx(3.6899 / 3.7930)
        assert high.ratio_half_width == pytest.approx(high.half_width / 0.502)
        assert {score.paper for score in found.scores} == {None}
        assert high.paper_gain is None

    def test_no_node_is_held_out_and_it_is_said(self):
        found = self.found()
        assert {row.notes for row in found.rows} == {("no held-out nodes",)}
        assert {row.metric for row in found.rows} == {"mse"}
        assert any(text.startswith("No held-out nodes: ") for text in found.caption)
        assert not any("conditional on the split" in text for text in found.caption)

    def test_seeds_are_units(self):
        assert {score.units for score in self.found().scores} == {5}

    def test_small_errors_are_no_ties(self):
        def score(method, condition, index):
            return 1e-5 * (0.5 if "+" in method else 1.0)

        standing = table(ERRORS, score).standings[1]
        assert (standing.wins, standing.ties, standing.losses) == (2, 0, 0)

    def test_an_error_of_zero_has_no_ratio(self):
        found = table(ERRORS, lambda method, condition, index: 0.0)
        assert {c.ratio for c in found.contrasts} == {None}

    def test_accuracies_have_no_ratio(self):
        assert {c.ratio for c in table(DEPTH, deep).contrasts} == {None}


def test_edges_that_are_dropped_once_condition_the_intervals():
    text = DEPTH.replace("layers: [2, 8]", "drop_edges: [0, 0.5]").replace("sweep: {layers", "")
    found = table(text, lambda method, condition, index: 0.5 + 0.01 * index)
    assert [row.condition for row in found.rows] == ["drop_edges=0", "drop_edges=0.5"]
    assert any(text.startswith("drop_edges: drawn once per search") for text in found.caption)


def test_nothing_searched_is_told_as_such():
    caption = table(DEPTH, deep).caption
    assert caption[0].startswith("Nothing is searched: every study has 5 finals;")
    assert not any("not a search" in text for text in caption)
