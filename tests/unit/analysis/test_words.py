"""What is said first, and how: golden lines."""

from dataclasses import replace

import numpy as np
import pytest
from support.arm_scores import run_with
from support.final_scores import CLEAR, table

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.effect_records import PenaltyEffect
from clar_tune.analysis.effect_sentences import contrary_cells, headline_of, undecided_cells
from clar_tune.analysis.records import Row

ROW = Row(
    graph="texas",
    condition="",
    protocol="random-60-20-20",
    metric="accuracy",
    notes=(),
    test_nodes=65,
)
METRICS = {("texas", ""): "accuracy"}


def effect(verdict: str, **given) -> PenaltyEffect:
    values = {
        **{"graph": "texas", "condition": "", "method": "gcn+clar", "against": "gcn"},
        **{"regularizer": "clar", "protocol": "random-60-20-20", "margin": 0.01},
        **{"effect": -0.003, "half": 0.021, "units": 20, "verdict": verdict},
    }
    return PenaltyEffect(**values | given)


def many(**counts: int) -> list[PenaltyEffect]:
    names = {"floor": "at the floor"}
    return [effect(names.get(word, word)) for word, n in counts.items() for _ in range(n)]


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        (
            {"better": 3, "worse": 1, "equal": 7, "undecided": 3, "unused": 1},
            "CLAR: effect decided in 11 of 15 cells: better in 3, worse in 1, "
            "equal within 1 point in 7; undecided in 3, unused in 1",
        ),
        (
            {"undecided": 2, "floor": 1},
            "CLAR: effect decided in 0 of 3 cells: undecided in 2, at the floor in 1",
        ),
        ({"better": 1}, "CLAR: effect decided in 1 of 1 cell: better in 1"),
    ],
)
def test_the_headline_counts_what_is_decided(counts, line):
    assert headline_of(many(**counts), METRICS) == line


def test_the_headline_is_about_clar_whatever_stands_first():
    others = [replace(effect("better"), regularizer="nl", method="gcn+nl"), effect("worse")]
    assert headline_of(others, METRICS).startswith("CLAR: effect decided in 1 of 1 cell")
    assert headline_of(others[:1], METRICS).startswith("NL: ")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"needed": 137}, "about 137 finals"),
        ({"needed": 5, "reason": "finals", "units": 3}, "about 5 finals"),
        ({"reason": "nodes"}, "more finals do not help: 65 test nodes"),
        ({"reason": "files", "units": 10}, "more finals add seeds, not splits: 10 split files"),
        ({"reason": "many"}, "more than 10,000 finals"),
        ({"reason": "collapsed"}, "collapsed trainings hide it"),
    ],
)
def test_an_undecided_cell_says_what_would_decide_it(given, told):
    (sentence,) = undecided_cells([effect("undecided", **given)], [ROW])
    assert sentence == f"Undecided: gcn+clar on texas (-0.30 ± 2.10; {told})."


def test_at_most_five_sentences_matter_and_the_rest_are_remarks():
    found = compare([table(CLEAR, graphs="texas, cora")])
    assert 1 <= len(found.conclusions) <= 5
    assert any(text.startswith("No test across graphs") for text in found.remarks)


def test_label_shift_is_the_first_conclusion():
    def score(graph, arm, index):
        return 0.6 + 0.01 * index + 0.001 * (arm == "on")

    shifted = {"shift": 0.42, "floor": 0.798}
    run = run_with(score, protocol="balanced-60-20-20", more=lambda arm, index: shifted)
    found = compare([run])
    assert found.conclusions[0] == (
        "Test nodes have other class shares than training nodes (label shift texas 0.42): there "
        "a gain of accuracy may be a step towards the large classes; read balanced accuracy "
        "beside it."
    )
    assert found.rows[0].shift == pytest.approx(0.42)
    said = " ".join(found.conclusions)
    assert "Not above a constant answer: gcn, gcn+clar on texas (constant 79.80)." in said
    assert "At the floor: with and without the penalty no better than a constant answer" in said
    for protocol, shift in (("balanced-60-20-20", 0.09), ("random-60-20-20", 0.12)):
        little = run_with(score, protocol=protocol, more=lambda arm, index, s=shift: {"shift": s})
        found = compare([little])
        said = (*found.conclusions, *found.remarks)
        assert not any("label shift" in text for text in said)


def test_no_sentence_says_that_a_method_improves_another():
    noise = np.random.default_rng(3).normal(0, 0.01, 10)
    found = compare(
        [
            run_with(
                lambda g, arm, i: 0.7 + noise[i] * (arm == "on") + 0.05 * (arm in ("on", "cross"))
            )
        ]
    )
    said = (found.headline, *found.conclusions, *found.remarks, *found.caption)
    assert not any("improve" in text for text in said)
    assert any(
        text.startswith("At the configurations this search found, switching the penalty on")
        for text in found.conclusions
    )


@pytest.mark.parametrize(
    ("kept", "crossed", "told"),
    [
        ((0.02, 0.01), (-0.18, 0.02), True),
        ((0.02, 0.03), (-0.18, 0.02), False),  # the first may be none
        ((0.02, 0.01), (0.18, 0.02), False),
        ((0.02, 0.01), (None, None), False),
    ],
)
def test_halves_that_contradict_each_other_are_told(kept, crossed, told):
    halves = dict(zip(("kept", "kept_half"), kept, strict=True))
    halves |= dict(zip(("crossed", "crossed_half"), crossed, strict=True))
    said = list(contrary_cells([effect("worse", **halves)], METRICS))
    line = (
        "The penalty helps beside one winner's shared parameters and harms beside the other's: "
        "gcn+clar on texas (+2.00 ± 1.00 at its own winner's, -18.00 ± 2.00 at the plain "
        "winner's). Effect and verdict are of the mean."
    )
    assert said == [line] * told


def test_contradicting_halves_stand_beside_what_is_decided():
    spread = np.linspace(-0.002, 0.002, 20)
    level = {"on": 0.82, "off": 0.80, "cross": 0.60, "plain": 0.82}
    run = run_with(lambda graph, arm, i: level.get(arm, 0.8) + spread[i] * (arm == "on"), 20)
    first, second, *_ = compare([run]).conclusions
    assert first.startswith("At the configurations this search found")
    assert second.startswith("The penalty helps beside one winner's")
