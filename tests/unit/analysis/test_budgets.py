"""What studies get is told as each of them has it, also where graphs differ."""

from dataclasses import replace

import pytest
from support.results import finished, simulated, stored

from clar_tune.analysis.budgets import finals_told, repeats_told
from clar_tune.analysis.comparison import compare
from clar_tune.analysis.runs import RunView
from clar_tune.cli import main
from clar_tune.errors import StoreError
from clar_tune.report.manifests import head_of, manifest_of

SPACE = """
graphs: [cora, citeseer, texas, cornell]
methods: [gcn, gcn+nl]
search: {trials: 4, sampler: random}
finals: 3
margin: 0.5
settings:
  tuned:
    shared: {lr: {low: 0.001, high: 0.1, log: true}}
    regularizers: {nl: {alpha: 1}}
"""


def told(run: RunView) -> tuple[int, str]:
    return repeats_told(run.budget, run.row.planned)


def test_repeats_are_told_as_graphs_have_them():
    assert told(finished(SPACE)) == (9, ", 27 on texas, cornell")
    assert told(finished(SPACE, graphs=("texas",))) == (27, "")
    assert told(finished(SPACE, repeats=3)) == (3, "")
    assert told(finished(SPACE.replace("{low: 0.001, high: 0.1, log: true}", "0.1"))) == (9, "")


def test_finals_are_told_with_what_decides_their_number():
    assert finals_told(finished(SPACE).budget) == "3 finals"
    text = SPACE.replace("finals: 3", "finals: {half_width: 0.4, at_least: 3, at_most: 30}")
    budget = finished(text).budget
    assert budget["precision"] == {"half_width": 0.004, "at_least": 3, "at_most": 30}
    assert finals_told(budget) == "3 to 30 finals (intervals of effects within ± 0.4 points)"


def test_captions_and_the_page_tell_it():
    run = finished(SPACE)
    caption = " ".join(compare([run]).caption)
    assert "9 repeats by successive halving (3), 27 on texas, cornell, 3 finals;" in caption
    facts = dict(head_of([run]).facts)
    assert "9 repeats pruned by 3, 27 on texas, cornell, 3 finals per study" in facts["budget"]
    text = SPACE.replace("finals: 3", "finals: {half_width: 0.4, at_least: 3, at_most: 30}")
    groups = dict(manifest_of(finished(text)).groups)
    shown = dict(groups["Budget of every study"])
    assert shown["precision"] == "half_width 0.004, at_least 3, at_most 30"


def test_show_tells_it(tmp_path):
    from click.testing import CliRunner

    stored(tmp_path, *simulated(SPACE))
    shown = CliRunner().invoke(main, ["show", "simulated", "--store", str(tmp_path)])
    assert "9 repeats pruned by 3, 27 on texas, cornell, 3 finals" in " ".join(
        shown.stdout.split()
    )


def test_the_margin_of_a_space_stands_in_the_manifest_in_the_units_of_scores():
    assert finished(SPACE).row.margin == 0.005
    assert finished(SPACE.replace("margin: 0.5\n", "")).row.margin == 0.01


def test_runs_on_small_and_on_large_graphs_under_one_rule_are_joined():
    small, large = (
        replace(finished(SPACE, graphs=(graph,)), name=graph) for graph in ("texas", "cora")
    )
    assert {row.graph for row in compare([small, large]).rows} == {"texas", "cora"}
    named = replace(finished(SPACE, graphs=("cora",), repeats=9), name="named")
    with pytest.raises(StoreError, match="small_repeats is 27 and None"):
        compare([small, named])
    with pytest.raises(StoreError, match="small_repeats is None and 27"):
        compare([named, small])
