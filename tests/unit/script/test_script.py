"""A script that is written for a winner trains it without us, and finds the same test score."""

import ast
import re
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.own_classes import SCRIPTED

from clar_tune.configuration import Configuration, Pair
from clar_tune.errors import ParameterError
from clar_tune.fits import Fit, train
from clar_tune.script import script_of
from clar_tune.version import NUMBERS_VERSION

SHORT = {"max_epochs": 40, "patience": 30, "warmup": 1, "engine": "torch"}
FINALS = 3


def fits_of(graph: str, method: str, finals: int, **given) -> list[Fit]:
    """Our own trainings on the pairs of finals."""
    asked = {**SHORT, "protocol": "random-60-20-20", **given}
    return [train(graph, method, purpose="final", index=n, **asked) for n in range(finals)]


def configuration_of(fits: list[Fit]) -> Configuration:
    pairs = [
        Pair(
            number=number,
            split_seed=fit.spec.split_seed,
            init_seed=fit.spec.init_seed,
            test_score=fit.test_score,
        )
        for number, fit in enumerate(fits)
    ]
    return replace(fits[0].configuration, run="mine", trial=3, pairs=tuple(pairs))


class Desk:
    """A folder where scripts are written and started."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capsys) -> None:
        self.folder, self._patch, self._capsys = folder, patch, capsys

    def scores(self, configuration: Configuration, data: str = ".") -> list[float]:
        """What the script of a configuration prints."""
        file = self.folder / "winner.py"
        file.write_text(script_of(configuration, file.name))
        self._patch.setattr(sys, "argv", [str(file), data])
        with torch.random.fork_rng([]):
            runpy.run_path(str(file), run_name="__main__")
        printed = self._capsys.readouterr().out
        *each, mean = (float(n) for n in re.findall(r"test \w+ (\d\.\d+)", printed))
        assert mean == pytest.approx(sum(each) / len(each), abs=1e-6)
        return each


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys) -> Desk:
    return Desk(tmp_path, monkeypatch, capsys)


RULED = {"alpha": 0.1, "clamp": None}
METHODS = {
    "gcn": {},
    "sage": {"layers": 3},
    "cheby": {"K": 2},
    "gat": {"heads": 2},
    "gpr": {"K": 4},
    "mlp": {},
    "gcn+clar": {**RULED, "beta": 0.1},
    "sage+clar": {**RULED, "beta": 0.1, "reduction": "released", "sampling": "edge"},
    "gpr+clar": {"alpha": 1.0, "beta": 1.0, "reduction": "trace", "clamp": 50, "sampling": "any"},
    "gcn+nl": RULED,
    "gcn+preg": {"weight": 0.5},
    "cheby+preg": {"weight": 0.5, "form": "ce"},
    "sage+dropedge": {"rate": 0.3},
    "gcn+prior": {},
    "gcn+seen": {},
}


@pytest.mark.parametrize("method", METHODS)
def test_without_dropout_the_score_is_the_same(method, desk):
    protocol = "balanced-60-20-20" if "prior" in method else "random-60-20-20"
    select = "accuracy" if "clar" in method else "loss"
    fits = fits_of(
        "csbm-heterophily", method, 1, **METHODS[method], protocol=protocol, select=select
    )
    assert desk.scores(configuration_of(fits)) == pytest.approx([fits[0].test_score], abs=1e-4)


@pytest.mark.parametrize("method", ["gcn+clar", "sage"])
def test_with_dropout_the_mean_over_splits_is_the_same(method, desk):
    fits = fits_of("csbm-homophily", method, FINALS, dropout=0.5, stop="released")
    found, ours = desk.scores(configuration_of(fits)), [fit.test_score for fit in fits]
    assert len(found) == FINALS and len(set(ours)) > 1
    assert sum(found) / FINALS == pytest.approx(sum(ours) / FINALS, abs=0.005)


REAL = [
    ("cora", "gcn+clar", {"protocol": "planetoid", "dropout": 0.5}),
    ("texas", "sage", {"protocol": "geom-gcn", "preprocessing": "released"}),
    ("chameleon-filtered", "gcn", {"protocol": "fixed-10"}),
]


@pytest.mark.parametrize(("graph", "method", "given"), REAL)
def test_graphs_are_read_by_their_class_or_from_their_file(
    graph, method, given, desk, data_folder
):
    """In a copy of the folder: torch-geometric keeps what it made of the files beside them."""
    fits = fits_of(graph, method, 2, **given)
    name = {"cora": "Cora", "chameleon-filtered": "chameleon_filtered"}.get(graph, graph)
    shutil.copytree(data_folder / name / "raw", desk.folder / "data" / name / "raw")
    found = desk.scores(configuration_of(fits), str(desk.folder / "data"))
    assert found == pytest.approx([fit.test_score for fit in fits], abs=0.005)


def test_a_script_needs_nothing_of_ours():
    configuration = configuration_of(fits_of("csbm-homophily", "gcn+clar", 1, max_epochs=2))
    text = script_of(configuration, "winner.py")
    nodes = list(ast.walk(ast.parse(text)))
    named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    imported = {name.partition(".")[0] for name in named}
    assert imported - sys.stdlib_module_names == {"torch", "torch_geometric", "numpy"}
    assert "clar_tune" not in text and "type: ignore" not in text
    assert text.startswith('"""gcn+clar on csbm-homophily: trial 3 of run mine.')


def test_classes_of_the_user_are_imported_by_their_names(desk, monkeypatch):
    (desk.folder / "scripted_models.py").write_text(SCRIPTED)
    monkeypatch.syspath_prepend(desk.folder)
    for method, given in (
        ("scripted_models:Wide", {"width": 5}),
        ("gcn+scripted_models:Shrink", {"hidden": 6, "strength": 0.1}),
        ("scripted_models:Wide+nl", {"width": 6, "alpha": 0.1}),
    ):
        fits = fits_of("csbm-homophily", method, 1, **given)
        found = desk.scores(configuration_of(fits))
        assert found == pytest.approx([fits[0].test_score], abs=1e-4)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"condition": "drop_edges=0.3,layers=2"}, "the condition drop_edges changes the graph"),
        ({"metric": "mse"}, "it learns numbers"),
        ({"outer_test": 0.2}, "withheld by --outer-test"),
        ({"pairs": ()}, "it has no finals yet"),
        ({"method": "gcn+adagraph"}, "adagraph: it is not among the methods"),
        ({"graph": "mine.npz"}, "mine.npz: the graph is not in the catalogue"),
        ({"params": {"norm": "batch"}}, "scripts do not know norm"),
        ({"method": "a:B+a:C"}, "which of its classes takes .*hidden"),
    ],
)
def test_what_no_script_is_written_for_is_refused(changes, reason):
    configuration = Configuration(
        **{
            **_plain(),
            **changes,
            "params": {**_plain()["params"], **changes.get("params", {})},
        }
    )
    with pytest.raises(
        ParameterError, match=f"--script: .*{reason}.* Train it with `clar-tune tr"
    ):
        script_of(configuration, "winner.py")


def _plain() -> dict:
    shared = {"hidden": 8, "layers": 2, "dropout": 0.0, "lr": 0.01, "weight_decay": 0.0}
    return {
        **{"graph": "csbm-homophily", "graph_hash": "", "preprocessing": "undirected"},
        **{"method": "gcn", "condition": "", "protocol": "random-60-20-20"},
        **{"metric": "accuracy", "params": shared, "max_epochs": 9, "patience": 9, "warmup": 1},
        **{"select": "loss", "stop": "patience", "optimizer": "adam", "engine": "native"},
        **{"threads": 1, "outer_test": 0.0, "seed": 0, "purpose": "final"},
        "numbers": NUMBERS_VERSION,
        "pairs": (Pair(number=0, split_seed=1, init_seed=2, test_score=0.5),),
    }
