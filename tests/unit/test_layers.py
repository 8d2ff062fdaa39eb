"""The order of the modules: each may import only what stands before it."""

import ast
from pathlib import Path

import clar_tune

PACKAGE = Path(clar_tune.__file__).parent
ORDER = [
    *("version", "errors", "checks", "seeds", "names"),
    *("graph", "splits", "pickles", "readers", "generated"),
    *("catalogue", "pyg_datasets", "download", "datasets"),
    *("spectrum", "energies", "responses"),
    *("sparse", "adjacency", "complement", "layers", "attention", "backbones"),
    *("metrics", "regularizers", "tensors", "devices", "records", "variants", "methods"),
    *("objectives", "training", "confirm", "contenders"),
    *("rows", "ranges", "paper", "space", "plan", "jobs", "winners", "entries"),
    *("store", "studies", "course", "pace", "conductor", "progress", "estimate"),
    *(
        "resources",
        "capacity",
        "memory",
        "health",
        "search",
        "machine",
        "manifest",
        "driver",
        "repro",
    ),
    *("statistics", "overview", "comparison", "formats", "optuna_studies"),
    *("figures", "report", "query", "streams", "cli"),
]
HOMES = {
    "torch_geometric": {"pyg_datasets", "download"},
    "yaml": {"space", "paper", "search", "cli"},
    "rich": {"formats", "cli"},
    "click": {"cli"},
    "platformdirs": {"download", "spectrum", "store"},
    "ray": {"search", "driver"},
    "optuna": {"studies", "optuna_studies"},
    "pyarrow": {"store"},
    "duckdb": {"query"},
    "statsmodels": {"statistics"},
    "altair": {"figures"},
    "vl_convert": {"figures"},
    "jinja2": {"report"},
}
"""Modules that may import a large dependency."""


def layer_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(file: Path) -> set[str]:
    """Full names of everything a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            found.add(node.module or "")
    return found


def files() -> list[Path]:
    return [file for file in PACKAGE.rglob("*.py") if not layer_of(file).startswith("__")]


def test_every_module_has_its_place():
    assert {layer_of(file) for file in files()} == set(ORDER)


def test_imports_follow_the_order():
    for file in files():
        layer = layer_of(file)
        own = {name.split(".")[1] for name in imports_of(file) if name.startswith("clar_tune.")}
        allowed = set(ORDER[: ORDER.index(layer) + 1])
        assert own <= allowed, f"{file} reaches outside its layer: {own - allowed}"


def test_large_dependencies_stay_at_home():
    for file in files():
        for name in imports_of(file):
            homes = HOMES.get(name.partition(".")[0])
            assert homes is None or layer_of(file) in homes, f"{file} imports {name}"


def test_results_are_read_without_the_search():
    readers = ("overview", "comparison", "formats", "figures", "report", "query")
    for file in files():
        if layer_of(file) in readers:
            own = {name.split(".")[1] for name in imports_of(file) if "clar_tune." in name}
            assert not {"search", "conductor", "training"} & own, f"{file} imports {own}"


def test_training_does_not_know_test_nodes():
    search_path = [PACKAGE / "training.py", *PACKAGE.glob("regularizers/*.py")]
    for file in search_path:
        names = {node.id for node in ast.walk(ast.parse(file.read_text())) if hasattr(node, "id")}
        imported = {
            alias.name
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert not {"test_nodes", "test_score"} & (names | imported), file
