"""What a user installs."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
from support.pages import ROOT

import clar_tune
from clar_tune.cli import main

HEAVY = (
    *("torch", "torch_geometric", "ray", "optuna", "pyarrow", "duckdb"),
    *("scipy", "numpy", "rich", "yaml"),
)
COMMANDS = [[], *([name] for name in main.commands), ["graphs", "verify"], ["spaces", "check"]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT],
        check=True,
        env={**os.environ, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")},
    )
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_spaces_and_cluster_file_ship_inside_the_wheel(wheel):
    names = set(wheel.namelist())
    spaces = {f"clar_tune/search_spaces/{file.name}" for file in ROOT.glob("search_spaces/*.yaml")}
    assert spaces
    assert spaces <= names
    assert {f"clar_tune/{file}" for file in ("cluster.yaml", "paper.yaml", "py.typed")} <= names
    shipped = wheel.read("clar_tune/cluster.yaml")
    assert shipped == (ROOT / "cluster.yaml").read_bytes()


def test_every_module_ships(wheel):
    here = {str(file.relative_to(ROOT)) for file in (ROOT / "clar_tune").rglob("*.py")}
    assert here <= set(wheel.namelist())


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    pins = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    for requirement in wanted:
        name = re.match(r"[A-Za-z0-9_-]+", requirement)[0]
        assert name.lower() in pins, f"{name} has no pin"


def test_public_names_are_those_announced():
    for name in clar_tune.__all__:
        assert getattr(clar_tune, name) is not None
    with pytest.raises(AttributeError, match="Clar"):
        _ = clar_tune.Clar


@pytest.mark.parametrize("command", COMMANDS)
def test_help_loads_nothing_heavy(command):
    code = (
        "import sys, clar_tune.cli as c\n"
        f"try: c.main({[*command, '--help']!r}, prog_name='clar-tune')\n"
        "except SystemExit: pass\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "Usage: clar-tune" in done.stdout


def test_it_runs_as_a_module_too():
    done = subprocess.run(
        [sys.executable, "-m", "clar_tune", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert clar_tune.__version__ in done.stdout
