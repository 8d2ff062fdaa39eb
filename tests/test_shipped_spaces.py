"""The spaces that reproduce the paper: planned in full, and run in part on real graphs."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from clar_tune.cli import main
from clar_tune.comparison import Comparison, compare
from clar_tune.overview import RunView, read_run
from clar_tune.paper import coefficient, printed, printed_ratio
from clar_tune.plan import Options, make_plan
from clar_tune.ranges import Fixed
from clar_tune.space import load_space, shipped_spaces
from clar_tune.store import Store

shipped = cache(load_space)

SPACES = ["planetoid", "filters", "sensitivity", "sampling", "depth", "robustness", "frequency"]

# Studies, and trainings at most under the settings `tuned` and `paper`.
EXTENTS = {
    "planetoid": (45, 6_930, 2_700),
    "filters": (48, 1_848, 1_776),
    "sensitivity": (90, 900, 1_800),
    "sampling": (1_944, 9_720, 9_720),
    "depth": (36, 2_088, 3_060),
    "robustness": (90, 5_220, 9_900),
    "frequency": (24, 1_392, 264),
}

BACKBONES = ("gcn", "gat", "sage")


def conditions(space: str, method: str) -> list[dict]:
    loaded = shipped(space)
    (found,) = (m for m in loaded.methods if m.name == method)
    return [dict(condition) for condition in loaded.conditions_of(found)]


# In full


@pytest.mark.parametrize("settings", ["tuned", "paper"])
@pytest.mark.parametrize("space", SPACES)
def test_a_dry_run_plans_the_whole_space(space, settings, cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "--space", space, "--settings", settings, "--dry-run", "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    studies, *trainings = EXTENTS[space]
    assert found["studies"] == studies
    assert found["trainings_at_most"] == trainings[settings == "paper"]
    assert not list(tmp_path.glob("clar-store*"))


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
        assert not any(study.searches for study in plan.studies)


def test_sampling_has_162_cells_under_each_sampling():
    space = shipped("sampling")
    cells = conditions("sampling", "gcn+clar")
    assert [sum(c["sampling"] == s for c in cells) for s in ("node", "edge", "any")] == [162] * 3
    assert not any(study.searches for study in make_plan(space, Options()).studies)
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


@pytest.mark.parametrize("space", SPACES)
def test_every_searched_weight_can_be_zero(space):
    levels = shipped(space).settings["tuned"].levels
    for parameters in levels.regularizers.values():
        for name in {"alpha", "beta", "weight", "rate"} & set(parameters):
            domain = parameters[name].domain
            assert isinstance(domain, Fixed) or domain.holds(0)


# In part


@dataclass(frozen=True)
class Part:
    """What is left of a space: fewer values, graphs and methods."""

    shorter: dict[str, str]
    options: tuple[str, ...]
    rows: tuple[str, ...]
    """Conditions of its rows."""
    columns: tuple[str, ...]


PARTS = {
    "planetoid": Part(
        shorter={},
        options=("--graphs", "cora", "--methods", "gcn,gcn+adagraph,gcn+clar"),
        rows=("",),
        columns=("gcn", "gcn+adagraph", "gcn+clar"),
    ),
    "filters": Part(
        shorter={"[high-pass, low-pass, band-pass, band-rejection]": "[high-pass, low-pass]"},
        options=("--graphs", "chameleon", "--methods", "gcn,gcn+clar"),
        rows=("filter=high-pass", "filter=low-pass"),
        columns=("gcn", "gcn+clar"),
    ),
    "sensitivity": Part(
        shorter={"[1, 2, 4, 8, 16, 32]": "[1, 2, 8]"},
        options=("--graphs", "cora", "--methods", "gcn+clar"),
        rows=("samples=1", "samples=2", "samples=8"),
        columns=("gcn+clar",),
    ),
    "sampling": Part(
        shorter={"[0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]": "[0, 1]", "[1, 2]": "[1]"},
        options=("--graphs", "cora"),
        rows=tuple(f"alpha={a},beta={b},samples=1" for a in (0, 1) for b in (0, 1)),
        columns=tuple(f"gcn+clar sampling={sampling}" for sampling in ("node", "edge", "any")),
    ),
    "depth": Part(
        shorter={"[2, 4, 8, 16, 32, 64]": "[2, 64]"},
        options=(),
        rows=("layers=2", "layers=64"),
        columns=(
            *("gcn", "gcn+clar clamp=1", "gcn+clar clamp=10"),
            *("gcn+dropedge", "gcn+madreg", "mlp"),
        ),
    ),
    "robustness": Part(
        shorter={"[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]": "[0, 0.9]"},
        options=("--graphs", "cora"),
        rows=("drop_edges=0", "drop_edges=0.9"),
        columns=("gcn", "gcn+clar", "gcn+clar scale=10"),
    ),
    "frequency": Part(
        shorter={"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]": "[1, 10]"},
        options=("--graphs", "chameleon"),
        rows=("band=1", "band=10", ""),
        columns=("mlp", "gpr", "cheby"),
    ),
}


def shortened(space: str) -> str:
    text = shipped_spaces()[space].read_text()
    for old, new in {"max_epochs: 1000": "max_epochs: 8", **PARTS[space].shorter}.items():
        assert old in text
        text = text.replace(old, new)
    return text


BUDGET = ("--trials", "2", "--repeats", "1", "--finals", "2", "--quiet", "--max-concurrent", "1")


@pytest.fixture(scope="module")
def parts(data_folder, tmp_path_factory) -> Store:
    """A store with a run of every part, named after its space."""
    folder = tmp_path_factory.mktemp("parts")
    runs = []
    for space, part in PARTS.items():
        file = folder / f"{space}.yaml"
        file.write_text(shortened(space))
        runs.append(["--space", str(file), "--name", space, *part.options, *BUDGET])
    environment = {
        **os.environ,
        "CLAR_TUNE_DATA": str(data_folder),
        "CLAR_TUNE_STORE": str(folder / "store"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    script = Path(__file__).with_name("runs_on_one_ray.py")
    subprocess.run([sys.executable, script, json.dumps(runs)], env=environment, cwd=folder)
    return Store.open(folder / "store")


@pytest.mark.slow
@pytest.mark.parametrize("space", SPACES)
def test_a_part_of_it_runs_on_a_real_graph(space, parts):
    run = read_run(parts, space)
    found, part = compare([run]), PARTS[space]
    assert run.row.state == "finished"
    assert tuple(row.condition for row in found.rows) == part.rows
    assert found.methods == part.columns
    assert {score.units for score in found.scores} == {2}
    check = CHECKS.get(space)
    if check:
        check(run, found)


def _filters(run: RunView, found: Comparison) -> None:
    assert {row.metric for row in found.rows} == {"mse"}
    assert all(c.ratio is not None and c.paper_ratio is not None for c in found.contrasts)
    finals = [final for study in run.studies for final in study.finals]
    assert all(final["val_score"] == final["test_score"] for final in finals)
    assert {final["test_nodes"] for final in finals} == {2277}


def _sensitivity(run: RunView, found: Comparison) -> None:
    (correlation,) = found.correlations
    assert (correlation.values, correlation.units) == (("1", "2", "8"), 2)
    assert correlation.paper == -0.059


def _sampling(run: RunView, found: Comparison) -> None:
    assert [c.values for c in found.correlations] == [
        ("node", "edge"),
        ("node", "any"),
        ("edge", "any"),
    ]
    assert [c.identical for c in found.correlations] == [2, 2, 2]  # without beta nothing is drawn
    assert found.correlations[0].paper == 0.8067


def _robustness(run: RunView, found: Comparison) -> None:
    means = {(s.condition, s.method): s.mean for s in found.scores}
    assert means["drop_edges=0", "gcn"] > means["drop_edges=0.9", "gcn"]
    assert all(contrast.against == "gcn" for contrast in found.contrasts)


def _frequency(run: RunView, found: Comparison) -> None:
    facts = {
        study.method: set(json.loads(final["facts"]))
        for study in run.studies
        for final in study.finals
    }
    assert {f"gamma_{k}" for k in range(11)} <= facts["gpr"]
    assert any(name.startswith("gram_") for name in facts["cheby"])


CHECKS = {
    "filters": _filters,
    "sensitivity": _sensitivity,
    "sampling": _sampling,
    "robustness": _robustness,
    "frequency": _frequency,
}
"""What is particular to a space."""
