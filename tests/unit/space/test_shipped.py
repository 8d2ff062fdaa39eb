"""The spaces that reproduce the paper: planned in full, and run in part on real graphs."""

import json
from functools import cache

import pytest
from click.testing import CliRunner

from clar_tune.cli import main
from clar_tune.paper import coefficient, printed, printed_ratio
from clar_tune.space import load_space, shipped_spaces
from clar_tune.space.domains import Fixed
from clar_tune.space.plan import Options, make_plan

shipped = cache(load_space)

# Studies, and trainings at most under the settings `tuned`, `paper` and `released`.
EXTENTS = {
    "planetoid": (45, 9_180, 4_725),
    "filters": (48, 2_808, 2_520),
    "sensitivity": (90, 900, 1_800),
    "sampling": (1_944, 9_720, 9_720),
    "depth": (36, 2_808, 3_564),
    "robustness": (90, 7_620, 11_400),
    "frequency": (24, 1_392, 264),
    "heterophily": (60, 18_752, 12_131, 12_131),
    "homophily": (60, 11_840, 10_295, 10_295),
    "all": (144, 35_328, 26_544, 26_544),
    "clar-forms": (8, 5_664),
    "quickstart": (8, 432),
}

BACKBONES = ("gcn", "gat", "sage")


def conditions(space: str, method: str) -> list[dict]:
    loaded = shipped(space)
    (found,) = (m for m in loaded.methods if m.name == method)
    return [dict(condition) for condition in loaded.conditions_of(found)]


# In full


@pytest.mark.parametrize(
    ("space", "settings"),
    [
        (space, settings)
        for space, (_, *trainings) in EXTENTS.items()
        for settings in ("tuned", "paper", "released")[: len(trainings)]
    ],
)
def test_a_dry_run_plans_the_whole_space(space, settings, cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "--space", space, "--settings", settings, "--dry-run", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    studies, *trainings = EXTENTS[space]
    assert found["studies"] == studies
    assert found["trainings_at_most"] == trainings[list(shipped(space).settings).index(settings)]
    assert not list(tmp_path.glob("clar-store*"))


def test_the_extent_of_every_space_is_known():
    assert EXTENTS.keys() == shipped_spaces().keys()
    assert [len(own) - 1 for own in EXTENTS.values()] == [
        len(shipped(space).settings) for space in EXTENTS
    ]


@pytest.mark.parametrize("space", sorted(EXTENTS))
def test_tuned_comparisons_are_on_random_splits_and_papers_on_balanced_ones(space):
    drawn = {"tuned": "random-60-20-20", "paper": "balanced-60-20-20"}
    fixed = {"planetoid", "coauthor-20-30", "whole-graph"}
    for name, settings in shipped(space).settings.items():
        usual = drawn.get(name, "balanced-60-20-20")
        assert set(settings.protocols.values()) <= {usual, *fixed}
        by_loss = name != "tuned" or space == "filters"  # an error is a loss itself
        assert settings.training.select == ("loss" if by_loss else "accuracy")


def test_planetoid_has_the_cells_of_table_iv():
    plan = make_plan(shipped("planetoid"), Options())
    places = [(s.columns.graph, s.columns.method, s.columns.protocol) for s in plan.studies]
    assert len(places) == 45
    assert all(printed("IV", graph, method, "", split) for graph, method, split in places)


def test_filters_has_the_cells_of_table_ii():
    plan = make_plan(shipped("filters"), Options())
    assert {study.metric for study in plan.studies} == {"mse"}
    ratios = [
        printed_ratio("II", c.graph, c.method, c.backbone, c.condition, c.protocol)
        for c in (study.columns for study in plan.studies)
        if c.regularizer == "clar"
    ]
    assert len(ratios) == 24 and all(ratios)
    training = shipped("filters").settings["paper"].training
    assert (training.max_epochs, training.patience) == (1000, 50)


def test_sensitivity_has_the_cells_of_table_v():
    space = shipped("sensitivity")
    for graph in space.graphs:
        for backbone in BACKBONES:
            place = (graph, f"{backbone}+clar", "spearman samples", space.protocols[graph])
            assert coefficient("V", *place) is not None
    assert [c["samples"] for c in conditions("sensitivity", "gat+clar")] == [1, 2, 4, 8, 16, 32]
    for settings in space.settings:
        plan = make_plan(space, Options(settings=settings))
        assert not any(study.has_search for study in plan.studies)


def test_sampling_has_162_cells_under_each_sampling():
    space = shipped("sampling")
    cells = conditions("sampling", "gcn+clar")
    assert [sum(c["sampling"] == s for c in cells) for s in ("node", "edge", "any")] == [162] * 3
    assert not any(study.has_search for study in make_plan(space, Options()).studies)
    place = ("gcn+clar", "pearson sampling node edge", "balanced-60-20-20")
    assert all(coefficient("VI", graph, *place) for graph in space.graphs)


def test_depth_goes_to_64_layers_with_both_clamps():
    depths = [2, 4, 8, 16, 32, 64]
    for method in ("gcn", "gcn+dropedge", "gcn+madreg", "mlp"):
        assert conditions("depth", method) == [{"layers": layers} for layers in depths]
    clar = conditions("depth", "gcn+clar")
    assert clar == [{"layers": layers, "clamp": clamp} for layers in depths for clamp in (1, 10)]


def test_robustness_drops_up_to_nine_tenths():
    dropped = [tenths / 10 for tenths in range(10)]
    assert conditions("robustness", "gcn") == [{"drop_edges": share} for share in dropped]
    clar = conditions("robustness", "gcn+clar")
    assert [c["drop_edges"] for c in clar] == dropped * 2
    assert [c.get("scale") for c in clar] == [None] * 10 + [10] * 10


def test_frequency_has_ten_bands_for_mlp_alone():
    assert conditions("frequency", "mlp") == [{"band": band} for band in range(1, 11)]
    assert conditions("frequency", "gpr") == conditions("frequency", "cheby") == [{}]


@pytest.mark.parametrize("space", sorted(EXTENTS))
def test_every_searched_weight_can_be_zero(space):
    levels = shipped(space).settings["tuned"].levels
    for parameters in levels.regularizers.values():
        for name in {"alpha", "beta", "weight", "rate"} & set(parameters):
            domain = parameters[name].domain
            assert isinstance(domain, Fixed) or domain.holds(0)


# In part
