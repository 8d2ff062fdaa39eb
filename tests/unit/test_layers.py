"""The order of the packages: each may import only those that stand before it."""

import ast
from functools import cache
from pathlib import Path

import clar_tune

PACKAGE = Path(clar_tune.__file__).parent
GROUND = (
    *("version", "errors", "validation", "seeds", "metric", "records", "rows", "winner", "paper"),
)
"""Modules of the root that everyone may import, and that import nothing but each other."""

ORDER = (
    *("ground", "graphs", "models", "engine", "training", "space", "store", "search", "cluster"),
    *("analysis", "report", "api", "testing", "cli"),
)
FUTURE = {
    "graphs": "graph splits variants spectrum catalogue datasets download pyg_datasets readers "
    "pickles generated threads",
    "models": "sparse adjacency tensors layers attention complement backbones methods "
    "regularizers",
    "training": "training objectives metrics confirm devices energies contenders",
    "space": "ranges plan",
    "store": "names query",
    "search": "studies entries course conductor pace jobs progress estimate memory repro manifest "
    "machine",
    "cluster": "driver resources capacity health",
    "analysis": "overview statistics responses comparison optuna_studies",
    "report": "formats figures",
    "cli": "streams",
    "ground": "checks winners",
}
"""Where modules that still lie in the root, or in an old package, will be."""

HOMES = {
    "torch_geometric": {"graphs"},
    "yaml": {"space", "ground", "analysis", "cluster", "cli"},
    "rich": {"report", "cli"},
    "click": {"cli"},
    "platformdirs": {"graphs", "store"},
    "ray": {"cluster"},
    "optuna": {"search", "analysis"},
    "pyarrow": {"store"},
    "duckdb": {"store"},
    "statsmodels": {"analysis"},
    "altair": {"report"},
    "vl_convert": {"report"},
    "jinja2": {"report"},
}
"""Packages that may import a large library."""

WITHOUT_TRAINING = ("analysis", "report")
"""Packages that read results where neither torch nor Ray is."""

NEVER_THERE = ("models", "engine", "training", "search", "cluster")


def layer_of(file: Path) -> str:
    first, *rest = file.relative_to(PACKAGE).parts
    name = first.removesuffix(".py")
    if name == "search" and (PACKAGE / "conductor.py").exists():
        return "cluster"
    if (name, *rest) == ("space", "contents.py"):
        return "analysis"
    if name in GROUND:
        return "ground"
    return next((home for home, names in FUTURE.items() if name in names.split()), name)


def files() -> list[Path]:
    """All modules but the package's own door and the start of the program."""
    return [file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE or _is_module(file)]


def _is_module(file: Path) -> bool:
    return not file.name.startswith("__")


@cache
def imports_of(file: Path) -> frozenset[str]:
    """Full names of the modules a file imports, also inside functions; types do not count."""
    return frozenset(_imported(ast.parse(file.read_text()), file))


def _imported(node: ast.AST, file: Path) -> set[str]:
    found = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.Import):
            found |= {alias.name for alias in child.names}
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{file}: imports are absolute"
            found |= {_module(child.module or "", alias.name) for alias in child.names}
        found |= _imported(child, file)
    return found


def _module(module: str, name: str) -> str:
    """``module.name`` if that is a module of ours, else ``module``."""
    whole = f"{module}.{name}"
    return whole if file_of(whole) is not None else module


@cache
def file_of(module: str) -> Path | None:
    """The file of one of our modules."""
    if module.partition(".")[0] != "clar_tune":
        return None
    place = PACKAGE.joinpath(*module.split(".")[1:])
    choices = (place.with_suffix(".py"), place / "__init__.py") if place != PACKAGE else ()
    return next((file for file in choices if file.exists()), None)


def own_imports(file: Path) -> list[Path]:
    found = (file_of(name) for name in imports_of(file))
    return [target for target in found if target is not None]


def test_every_module_has_its_place():
    assert {layer_of(file) for file in files()} <= set(ORDER)


def test_imports_follow_the_order():
    for file in files():
        for target in own_imports(file):
            before = ORDER.index(layer_of(target)) <= ORDER.index(layer_of(file))
            assert before, f"{file} reaches outside its layer: {target}"


def test_large_dependencies_stay_at_home():
    for file in files():
        for name in imports_of(file):
            homes = HOMES.get(name.partition(".")[0])
            assert homes is None or layer_of(file) in homes, f"{file} imports {name}"


def test_results_are_read_without_the_search():
    allowed = {PACKAGE / "optuna_studies/searched.py", PACKAGE / "analysis/search_space.py"}
    for file in files():
        if layer_of(file) in WITHOUT_TRAINING and file not in allowed:
            reached = {layer_of(target) for target in own_imports(file)}
            assert not reached & set(NEVER_THERE), f"{file} imports {reached}"


def test_training_does_not_know_test_nodes():
    loop = next(f for f in (PACKAGE / "training.py", PACKAGE / "training/loop.py") if f.exists())
    regularizers = [file for file in files() if "regularizers" in file.parts]
    assert regularizers
    for file in [loop, *regularizers]:
        names = {node.id for node in ast.walk(ast.parse(file.read_text())) if hasattr(node, "id")}
        imported = {
            alias.name
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert not {"test_nodes", "test_score"} & (names | imported), file
