"""The caption says whose shared points were exchanged, or why none were."""

from dataclasses import replace

import pytest
from support.results import finished

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.exchange_captions import exchange_captions

SPACE = """
description: a backbone with a penalty
graphs: [texas]
methods: [gcn, gcn+clar]
protocol: random-60-20-20
search: {trials: 8, repeats: 1, pruning: false, sampler: random}
finals: 2
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}}
    regularizers: {clar: {alpha: {choices: [0.1, 1]}, beta: 1}}
"""
FINITE = SPACE.replace("{low: 0.001, high: 0.1, log: true}", "{choices: [0.01, 0.1]}")
CELLS = FINITE.replace("sampler: random", "sampler: grid")
ALIKE = "No exchange of shared parameters: "


def said(text: str = SPACE, **options) -> list[str]:
    caption = compare([finished(text, **options)]).caption
    return [line for line in caption if "shared p" in line]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (SPACE, {"trials": 7}, [ALIKE + "searches of fewer than 8 trials have none."]),
        (SPACE.replace("gcn, ", ""), {}, [ALIKE + "no plain backbone is planned."]),
        (CELLS, {}, [ALIKE + "the sampler grid has cells of its own."]),
        (FINITE, {}, [ALIKE + "the search uses up its space."]),
        (SPACE.replace(", gcn+clar", ""), {}, []),
    ],
    ids=["short", "no plain", "grid", "finite", "alone"],
)
def test_it_says_why_there_is_none(text, options, expected):
    assert said(text, **options) == expected


def test_studies_without_it_are_named_beside_those_that_have_it():
    exchanged, without = said(SPACE.replace("gcn+clar]", "gcn+clar, sage+clar]"))
    assert exchanged.startswith("The last 2 trials of a study try the best shared points")
    why = "no plain backbone is planned."
    assert without == f"No exchange of shared parameters for sage+clar on texas: {why}"


def test_one_that_alone_has_a_search_has_nobody_to_learn_from():
    fixed = SPACE.replace("{lr: {low: 0.001, high: 0.1, log: true}}", "{lr: 0.01}").replace(
        "{choices: [0.1, 1]}", "{low: 0.1, high: 1}"
    )
    assert said(fixed) == [ALIKE + "no other method of its backbone has a search that can."]


def test_runs_of_older_versions_had_none():
    run = finished(SPACE)
    plans = [{**plan, "exchanged": 0} for plan in run.row.study_plans]
    old = replace(run, row=replace(run.row, numbers=2, study_plans=plans))
    assert list(exchange_captions([old])) == [
        ALIKE + "the run is of an older version, which had none."
    ]


def test_where_nothing_is_searched_nothing_is_said():
    assert (
        said(CELLS.replace("{choices: [0.01, 0.1]}", "0.01").replace("{choices: [0.1, 1]}", "1"))
        == []
    )
