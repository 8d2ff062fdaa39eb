"""The spaces that reproduce the paper: planned in full, and run in part on real graphs."""

from dataclasses import dataclass

import pytest
from support.one_ray import SharedPlace

from clar_tune.analysis.comparison import compare
from clar_tune.analysis.records import Comparison
from clar_tune.analysis.runs import RunView, read_run
from clar_tune.space import shipped_spaces

SPACES = ["planetoid", "filters", "sensitivity", "sampling", "depth", "robustness", "frequency"]


@dataclass(frozen=True)
class Part:
    """What is left of a space: fewer values, graphs and methods."""

    shorter: dict[str, str]
    options: tuple[str, ...]
    rows: tuple[str, ...]
    """Conditions of its rows."""
    columns: tuple[str, ...]
    epochs: int = 8


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
        epochs=50,  # as many as it takes to tell edges from none
    ),
    "frequency": Part(
        shorter={"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]": "[1, 10]"},
        options=("--graphs", "chameleon"),
        rows=("band=1", "band=10", ""),
        columns=("mlp", "gpr", "cheby"),
    ),
}


def shortened(space: str) -> str:
    text, part = shipped_spaces()[space].read_text(), PARTS[space]
    for old, new in {"max_epochs: 1000": f"max_epochs: {part.epochs}", **part.shorter}.items():
        assert old in text
        text = text.replace(old, new)
    return text


BUDGET = ("--trials", "2", "--repeats", "1", "--finals", "2", "--quiet", "--max-concurrent", "1")


@pytest.mark.parametrize("space", SPACES)
def test_a_part_of_it_runs_on_a_real_graph(space, data_folder, tmp_path, shared_ray):
    part, place = PARTS[space], SharedPlace(tmp_path, shared_ray, shortened(space))
    done = place.search("--name", space, "--data", str(data_folder), *part.options, *BUDGET)
    assert done.code == 0, done.err
    run = read_run(place.store, space)
    found = compare([run])
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
    assert all(final.val_score == final.test_score for final in finals)
    assert {final.test_nodes for final in finals} == {2277}


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
    facts = {study.method: set(final.facts) for study in run.studies for final in study.finals}
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
