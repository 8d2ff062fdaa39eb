"""The order of the packages, their doors, and the homes of large libraries."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import clar_tune

PACKAGE = Path(clar_tune.__file__).parent
GROUND = (
    *("version", "errors", "validation", "seeds", "metric", "records", "rows", "winner", "paper"),
    *("switches", "precision", "conditions", "spec_checks"),
)
"""Modules of the root that everyone may import, and that import nothing but each other."""

ORDER = (
    *("ground", "graphs", "models", "engine", "training", "space", "store", "search"),
    *("device_check", "cluster", "analysis", "report", "api", "testing", "cli"),
)
"""Each may import only those that stand before it."""

PACKAGES = ("graphs", "models", "engine", "training", "space", "store", "search", "device_check")
PACKAGES += ("cluster", "analysis", "report", "testing", "cli")

HOMES = {
    "torch_geometric": {"graphs"},
    "yaml": {"space", "ground", "analysis", "cluster", "cli"},
    "rich": {"report", "cli"},
    "click": {"cli"},
    "platformdirs": {"graphs", "store", "engine"},
    "numba": {"engine"},
    "llvmlite": {"engine"},
    "ray": {"cluster"},
    "optuna": {"search", "analysis"},
    "pyarrow": {"store"},
    "duckdb": {"store"},
    "obstore": {"store"},
    "altair": {"report"},
    "vl_convert": {"report"},
    "jinja2": {"report"},
    "pytest": set(),
}
"""Packages that may import a large library."""

READERS = ("analysis", "report")
"""Packages that read results where neither torch nor Ray is."""

NOT_FOR_READERS = ("models", "engine", "training", "search", "device_check", "cluster")

RAY_INTERNALS = PACKAGE / "cluster/ray_internals.py"
PRIVATE_TO_RAY = re.compile(
    r"ray\b.*\._(?!_)"  # an underscore, but no __version__
    r"|ray\.(core|tune\.execution|dashboard|autoscaler|scripts|cluster_utils)\b"
    r"|.*\.(temporary_state|run_metadata|get_live_trials)\b"  # of Tune's trials and controller
)
"""Names that Ray may change at any time."""


def layer_of(file: Path) -> str:
    """The package of a file; modules of the root are the ground, or stand for themselves."""
    name = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "ground" if name in GROUND else name


def files() -> list[Path]:
    """All modules but the package's own door and the start of the program."""
    every = PACKAGE.rglob("*.py")
    return [file for file in every if file.parent != PACKAGE or not file.name.startswith("__")]


class Import:
    """One name that a file imports, and whether it does so before it is used."""

    def __init__(self, module: str, name: str, *, at_once: bool) -> None:
        self.module, self.name, self.at_once = module, name, at_once

    @property
    def target(self) -> Path | None:
        """The file of ours that it comes from, behind whatever door."""
        return home_of(self.module, self.name)


@cache
def imports_of(file: Path) -> list[Import]:
    """All imports of a file but those for type checkers alone."""
    return list(_imports(ast.parse(file.read_text()), at_once=True))


def _imports(node: ast.AST, *, at_once: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, "", at_once=at_once)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            for alias in child.names:
                yield Import(child.module or "", alias.name, at_once=at_once)
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _imports(child, at_once=at_once and not inside)


@cache
def names_of_door(package: str) -> dict[str, str]:
    """What a package lets others import, with the module that each name comes from."""
    stub = PACKAGE.joinpath(*package.split(".")[1:], "__init__.pyi")
    if not stub.exists():
        return {}
    return {
        alias.name: f"{package}.{node.module}"
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def home_of(module: str, name: str) -> Path | None:
    if module.partition(".")[0] != "clar_tune":
        return None
    inside = names_of_door(module).get(name)
    if inside is not None:
        return home_of(inside, name)
    return _file(f"{module}.{name}") or _file(module)


def _file(module: str) -> Path | None:
    place = PACKAGE.joinpath(*module.split(".")[1:])
    choices = (place.with_suffix(".py"), place / "__init__.py") if place != PACKAGE else ()
    return next((file for file in choices if file.exists()), None)


def pulled_in(file: Path) -> dict[Path, str]:
    """All files that importing a file imports, each with the way to it."""
    reached = {file: file.stem}
    waiting = [file]
    while waiting:
        here = waiting.pop()
        for found in imports_of(here):
            target = found.target
            if found.at_once and target is not None and target not in reached:
                reached[target] = f"{reached[here]} -> {target.relative_to(PACKAGE)}"
                waiting.append(target)
    return reached


def test_every_module_has_its_place():
    assert {layer_of(file) for file in files()} <= set(ORDER)


def test_imports_follow_the_order_also_inside_functions():
    for file in files():
        for found in imports_of(file):
            if found.target is not None:
                before = ORDER.index(layer_of(found.target)) <= ORDER.index(layer_of(file))
                assert before, f"{file} reaches outside its layer: {found.target}"


def test_nothing_is_imported_past_a_door():
    for file in files():
        for found in imports_of(file):
            target = found.target
            if target is None or layer_of(target) in ("ground", layer_of(file)):
                continue
            door = f"clar_tune.{layer_of(target)}"
            if target.parent == PACKAGE:  # a module of the root has no other door than itself
                assert f"{found.module}.{found.name}".startswith(door), f"{file}: {found.module}"
                continue
            assert found.module == door, f"{file}: {found.module} is behind {door}"
            assert found.name in names_of_door(door), f"{file}: {door} has no {found.name}"


@pytest.mark.parametrize("package", ["clar_tune", *(f"clar_tune.{name}" for name in PACKAGES)])
def test_what_a_door_promises_is_there(package):
    door = __import__(package, fromlist=["x"])
    for name in names_of_door(package):
        assert getattr(door, name) is not None


def test_a_name_of_a_door_is_no_module_beside_it():
    for package in PACKAGES:
        beside = {path.stem for path in (PACKAGE / package).iterdir()}
        assert not beside & names_of_door(f"clar_tune.{package}").keys()


def test_large_dependencies_stay_at_home():
    for file in files():
        for found in imports_of(file):
            homes = HOMES.get(found.module.partition(".")[0])
            assert homes is None or layer_of(file) in homes, f"{file} imports {found.module}"


def private_to_ray(text: str) -> list[str]:
    """What a source uses of Ray that is not public."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names.append(ast.unparse(node))
    return [name for name in names if PRIVATE_TO_RAY.match(name)]


def test_private_parts_of_ray_are_used_in_one_file():
    assert private_to_ray(RAY_INTERNALS.read_text())
    for file in set(files()) - {RAY_INTERNALS}:
        used = private_to_ray(file.read_text())
        assert not used, f"{file} uses {used}: what is private to Ray belongs into {RAY_INTERNALS}"


@pytest.mark.parametrize(
    "planted",
    [
        "import ray._private.services",
        "from ray import _raylet",
        "from ray._common.utils import get_default_system_temp_dir",
        "def late():\n    from ray.core.generated import gcs_pb2",
        "from ray.tune.execution.class_cache import ENV_VARS_TO_PROPAGATE",
        "from ray.autoscaler import sdk",
        "import ray\nprint(ray._private.worker.global_worker)",
        "def end(trial):\n    return trial.temporary_state.ray_actor",
    ],
)
def test_a_planted_private_part_of_ray_is_seen(planted):
    assert private_to_ray(planted)
    assert not private_to_ray("import ray.tune\nfrom ray import tune\nprint(ray.__version__)")


def test_results_are_read_without_torch_and_ray():
    for file in files():
        if layer_of(file) in READERS:
            for reached, way in pulled_in(file).items():
                assert layer_of(reached) not in NOT_FOR_READERS, way
                large = {i.module.partition(".")[0] for i in imports_of(reached) if i.at_once}
                assert not large & {"torch", "torch_geometric", "ray"}, way


def test_the_engine_knows_neither_torch_nor_the_models_of_it():
    for file in files():
        if layer_of(file) == "engine":
            for reached, way in pulled_in(file).items():
                assert layer_of(reached) in ("ground", "graphs", "engine"), way
                assert "torch" not in {i.module.partition(".")[0] for i in imports_of(reached)}, (
                    way
                )


def test_numba_is_loaded_by_the_engine_alone():
    doors = [PACKAGE / "__init__.py", PACKAGE / "cli/__init__.py", PACKAGE / "api.py"]
    for file in doors:
        for reached, way in pulled_in(file).items():
            assert layer_of(reached) != "engine", way


def test_training_does_not_know_test_nodes():
    search_path = [PACKAGE / "training/loop.py", *PACKAGE.glob("models/regularizers/*.py")]
    assert len(search_path) > 5
    for file in search_path:
        names = {node.id for node in ast.walk(ast.parse(file.read_text())) if hasattr(node, "id")}
        imported = {found.name for found in imports_of(file)}
        assert not {"test_nodes", "test_score"} & (names | imported), file
