"""Which cells sentences name, in which order, and what legends say of columns."""

from dataclasses import replace

import pytest
from support.arm_scores import run_with
from support.final_scores import CLEAR, PLAIN, table
from support.results import finished

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.effect_captions import effect_captions
from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.effect_sentences import (
    MOST_NAMED,
    complement_cells,
    contrary_cells,
    decided_cells,
    floor_cells,
    one_half_cells,
    other_tallies,
)
from clar_tune.analysis.families import Judging
from clar_tune.models.regularizers import REGULARIZERS
from clar_tune.report import document_of, render
from clar_tune.report.builders.penalty_effects import effects_table
from clar_tune.switches import CORRECTIONS


def effect(method: str = "gcn+clar", graph: str = "cora", **changed) -> PenaltyEffect:
    known = PenaltyEffect(
        graph=graph,
        condition="",
        method=method,
        against="gcn",
        regularizer=method.partition("+")[2],
        protocol="random-60-20-20",
        verdict="better",
        effect=0.02,
        half=0.01,
        error=0.005,
        units=20,
        unit="split",
        kept=0.02,
        kept_half=0.01,
        crossed=0.02,
        crossed_half=0.01,
        margin=0.01,
        finals=80,
    )
    return replace(known, **changed)


def shown(*effects: PenaltyEffect) -> list[list[str]]:
    """The lines of the table of effects."""
    base = compare([table(CLEAR, graphs="cora")])
    lines = effects_table(replace(base, effects=effects)).lines
    return [[cell.text for cell in line.cells] for line in lines]


def titled(*effects: PenaltyEffect) -> str:
    """What that table is called after a search."""
    base = compare([run_with(lambda graph, arm, i: 0.7)])
    return effects_table(replace(base, effects=effects)).title


def test_cells_of_clar_come_first_and_are_all_named():
    nl = [effect("gcn+nl", f"g{n}") for n in range(5)]
    clar = [effect(graph=f"h{n}") for n in range(MOST_NAMED + 1)]
    (sentence,) = decided_cells([*nl, *clar], {})
    assert sentence.index("gcn+clar on h0") < sentence.index("and 5 more")
    assert all(f"gcn+clar on h{n} " in sentence for n in range(MOST_NAMED + 1))
    (few,) = decided_cells([*nl, clar[0]], {})
    assert few.index("gcn+clar") < few.index("gcn+nl") and "more" not in few


def test_halves_that_contradict_each_other_are_told_apart():
    (sentence,) = contrary_cells([effect(kept=0.0408, crossed=-0.0408)], {})
    assert "(+4.08 ± 1.00 at its own winner's, -4.08 ± 1.00 at the plain winner's)" in sentence


def test_a_correction_is_called_so_where_one_is_told_of_and_only_there():
    prior, seen = effect("gcn+prior"), effect("gcn+seen", verdict="at the floor")
    (with_prior,) = decided_cells([effect(), prior], {})
    (without,) = decided_cells([effect(), seen], {})
    assert "switching the penalty or correction on changes accuracy" in with_prior
    assert "switching the penalty on changes accuracy" in without
    (floor,) = floor_cells([seen])
    assert "with and without the penalty or correction no better" in floor
    contrary = {"kept": 0.04, "crossed": -0.04}
    assert next(contrary_cells([effect(**contrary), prior], {})).startswith("The penalty helps")
    (corrected,) = contrary_cells([replace(prior, **contrary)], {})
    assert corrected.startswith("The penalty or correction helps")
    assert titled(effect(), prior).startswith("Effect of the penalty or correction, in points: ")
    assert titled(effect(), effect("gcn+dropedge")).startswith(
        "Effect of the penalty, in points: "
    )
    legend = " ".join(effect_captions([prior], Judging(margin=0.01), outer=False))
    assert "what switching the penalty or correction on changes" in legend


def test_corrections_are_the_built_in_regularizers_that_correct():
    assert {name for name, kind in REGULARIZERS.items() if kind.corrects} == CORRECTIONS


def test_the_table_says_what_its_effects_are_the_mean_of():
    half = effect(graph="texas", crossed=None, crossed_half=None)
    unused = effect(verdict="unused", kept=None, kept_half=None, crossed=None, crossed_half=None)
    halves = {
        (effect(), unused): ": mean of on - off and cross - plain, at",
        (half, unused): ": on - off alone, at",
        (effect(), half): ": mean of on - off and cross - plain, or on - off alone, at",
        (unused,): ", at",
    }
    for effects, told in halves.items():
        expected = f"Effect of the penalty, in points{told} the configurations this search found"
        assert titled(*effects) == expected


def test_cells_where_the_complement_does_less_are_told_and_named():
    cells = [
        effect(over_any=0.001, over_any_half=0.002, over_nl=-0.001, over_nl_half=0.002),
        effect(graph="texas", over_any=0.0, over_any_half=0.0, over_nl=-0.03, over_nl_half=0.01),
    ]
    assert list(complement_cells(cells, {})) == [
        "The complement does more than pairs of any nodes in 0 of 2 cells (gcn+clar on cora "
        "+0.10 ± 0.20, gcn+clar on texas +0.00 ± 0.00), than nl in 0 of 2 cells and less in 1 "
        "(gcn+clar on texas -3.00 ± 1.00), by unadjusted 95 % intervals."
    ]
    more = effect(graph="citeseer", over_nl=0.02, over_nl_half=0.01)
    (both,) = complement_cells([*cells, more], {})
    assert "than nl in 1 of 3 cells (gcn+clar on citeseer +2.00 ± 1.00) and less in 1 (" in both


def test_identical_finals_are_named_so():
    same = effect(verdict="equal", effect=0.0, half=0.0, error=0.0)
    (sentence,) = decided_cells([same], {})
    assert "gcn+clar on cora (identical finals)" in sentence
    assert "equal (identical finals)" in shown(same)[0]
    legend = " ".join(effect_captions([same], Judging(margin=0.01), outer=False))
    assert "identical finals: no final differs" in legend


def test_a_small_difference_is_told_with_its_margin():
    small = effect(small=True, effect=0.004)
    (sentence,) = decided_cells([small], {})
    assert "by less than 1 point" in sentence and "better (< 1 point)" in shown(small)[0]
    legend = " ".join(effect_captions([small], Judging(margin=0.01), outer=False))
    assert "(< margin): better or worse, and by less than that margin." in legend


def test_collapsed_finals_are_counted_among_all_arms():
    assert "2 of 4 × 20" in shown(effect(collapsed=2))[0]
    assert "2 of 81" in shown(effect(collapsed=2, finals=81))[0]
    legend = " ".join(effect_captions([effect(collapsed=2)], Judging(margin=0.01), outer=False))
    assert "of all arms of an effect, J finals each" in legend


def test_the_bound_on_collapses_is_that_of_each_number_of_finals():
    legend = " ".join(
        effect_captions([effect(), effect(units=50)], Judging(margin=0.01), outer=False)
    )
    assert "at most 3 / J there, 0.15 where J is 20, 0.06 where J is 50" in legend


def test_what_a_node_counts_is_told():
    legend = " ".join(effect_captions([effect(nodes_half=0.1)], Judging(margin=0.01), outer=False))
    assert "A node's share of the variance counts 1.5 times" in legend


def test_cells_with_one_half_are_named_or_are_all():
    half = {"crossed": None, "crossed_half": None}
    (some,) = one_half_cells([effect(**half), effect("gcn+nl")])
    (whole,) = one_half_cells([effect(**half), effect(graph="texas", **half)])
    assert some.endswith("so that none is better: gcn+clar on cora.")
    assert whole.endswith("so that none is better: all 2 cells.")


@pytest.mark.parametrize("searched", [True, False])
def test_nothing_is_called_a_search_that_is_none(searched: bool):
    run = run_with(lambda graph, arm, i: 0.7) if searched else table(CLEAR)
    text = " ".join(render([document_of(compare([run]))], "terminal").split())
    assert ("at the configurations this search found" in text) == searched
    assert ("at these configurations" in text) == (not searched)


def test_floors_are_told_before_tallies():
    found = compare([table({**CLEAR, "gcn": [score - 0.4 for score in PLAIN]})])
    (tally,) = other_tallies(found.effects, {})
    assert any("Not above a constant answer: gcn on texas" in text for text in found.conclusions)
    assert found.remarks[0] == tally


def test_generated_graphs_are_named():
    text = "graphs: [csbm-homophily]\nmethods: [gcn, gcn+clar]\nprotocol: random-60-20-20\n"
    found = compare([finished(f"description: d\n{text}finals: 5\nsettings: {{tuned: {{}}}}\n")])
    told = "Generated graphs only (csbm-homophily): nothing follows for real ones."
    assert told in (*found.conclusions, *found.remarks)
