"""Spaces and plans take a user's own graphs wherever they take one of the catalogue."""

import shutil
import sys

import numpy as np
import pytest
from support.own_graphs import arrays, npz

from clar_tune.cluster.driver import load_graphs
from clar_tune.errors import ParameterError, SpaceError
from clar_tune.graphs import Lookup
from clar_tune.search import import_paths, manifest_of, plan_of
from clar_tune.search.sizes import Size
from clar_tune.space import Options, make_plan, parse_space

SPACE = """
graphs: [data/mine.npz, csbm-homophily]
methods: [gcn, gcn+clar]
finals: 6
settings:
  tuned:
    protocol: {data/mine.npz: own, csbm-homophily: random-60-20-20}
    shared: {lr: {choices: [0.01, 0.1]}}
    graphs: {data/mine.npz: {hidden: 8}}
"""


@pytest.fixture
def here(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    npz(tmp_path / "data/mine.npz")
    return tmp_path


def plan_from(text: str = SPACE, **options: object):
    return make_plan(parse_space(text, "own", "own.yaml"), Options(**options))


def test_a_space_may_name_a_path_everywhere(here):
    plan = plan_from()
    assert plan.graphs == ("data/mine.npz", "csbm-homophily")
    first = plan.studies[0]
    assert (first.columns.protocol, first.splits, first.metric) == ("own", 3, "accuracy")
    assert first.rules.repeats == 27, "it has fewer than 1,000 nodes"
    assert {p.name: p.domain.count for p in first.parameters}["hidden"] == 1
    params = first.complete({"lr": 0.1})
    seeds = [first.spec(params, "final", n, "hash").split_seed for n in range(6)]
    assert seeds == [0, 1, 2, 0, 1, 2]


def test_a_command_may_name_one_as_well(here):
    plan = plan_from(
        SPACE.replace("{data/mine.npz: own, csbm-homophily: random-60-20-20}", "random-60-20-20"),
        graphs=("pyg:KarateClub",),
    )
    assert plan.graphs == ("pyg:KarateClub",)
    assert Size.known("pyg:KarateClub", "undirected") == Size.of(
        load_graphs(plan, None)[plan.graphs[0]]
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "data/mine.npz",
            "data/mien.npz",
            r"own.yaml:2: graphs: data/mien.npz: there is no such file",
        ),
        ("csbm-homophily: random-60-20-20", "csbm-homophily: own", "only for graphs of your own"),
        ("data/mine.npz: {hidden", "data/other.npz: {hidden", "unknown.*'data/other.npz'"),
    ],
)
def test_a_wrong_one_is_told_with_its_place(here, old, new, told):
    with pytest.raises(SpaceError, match=told):
        plan_from(SPACE.replace(old, new))


def test_splits_are_asked_for_that_a_graph_does_not_bring(here):
    npz(here / "data/mine.npz", val_mask=None)
    with pytest.raises(SpaceError, match="data/mine.npz brings no splits"):
        plan_from()
    space = SPACE.replace(
        "{data/mine.npz: own, csbm-homophily: random-60-20-20}", "random-60-20-20"
    )
    with pytest.raises(ParameterError, match="data/mine.npz brings no splits"):
        plan_from(space, protocol="own", graphs=("data/mine.npz",))


def test_an_unbalanced_graph_of_two_classes_needs_a_protocol_where_the_usual_one_is_balanced(here):
    labels = np.where(arrays()["y"] == 0, np.arange(36) % 2, 0)
    npz(here / "data/mine.npz", y=labels)
    text = "graphs: [data/mine.npz]\nmethods: [gcn]\nsettings: {tuned: {}, paper: {}}"
    with pytest.raises(SpaceError, match="data/mine.npz has no protocol: balanced-60-20-20"):
        plan_from(text)
    assert plan_from(text.replace(", paper: {}", "")).studies[0].metric == "roc_auc"


def test_the_manifest_says_of_own_graphs_what_readers_need(here):
    plan = plan_from()
    row = manifest_of(plan, load_graphs(plan, None))
    facts = row.graphs["data/mine.npz"]
    assert (facts.nodes, facts.classes, facts.splits, facts.metric) == (36, 3, 3, "accuracy")
    assert row.splits_of("data/mine.npz") == 3
    assert row.graph_facts["csbm-homophily"].keys() == {"notes", "counts_as", "generated"}
    assert row.splits_of("csbm-homophily") == 0


def test_a_run_goes_on_where_its_file_lies_elsewhere(here, tmp_path_factory):
    plan = plan_from()
    row = manifest_of(plan, load_graphs(plan, None))
    away = tmp_path_factory.mktemp("away")
    shutil.move("data/mine.npz", away)
    with pytest.raises(SpaceError, match="there is no such file, .*--data"):
        plan_of("own", row)
    again = plan_of("own", row, Lookup(away))
    assert load_graphs(again, away)["data/mine.npz"].hash == row.graph_hashes["data/mine.npz"]


def test_what_a_run_imports_is_known_before_it_is_imported(here, monkeypatch):
    (here / "graphs_here.py").write_text(
        "from torch_geometric.datasets import KarateClub as load\n"
    )
    monkeypatch.syspath_prepend(here)
    text = "graphs: ['graphs_here:load', 'pyg:KarateClub']\nmethods: [gcn]\nsettings: {tuned: {}}"
    plan = plan_from(text)
    row = manifest_of(plan, load_graphs(plan, None))
    del sys.modules["graphs_here"]
    assert import_paths(row) == ["graphs_here:load"]
    assert "graphs_here" not in sys.modules
    assert row.graph_hashes["graphs_here:load"] == row.graph_hashes["pyg:KarateClub"]
