"""The commands and examples that the README and the docs show run; numbers are not compared."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner
from support.commands import CLAR_TUNE
from support.one_ray import OneRay, one_ray
from support.pages import ROOT, fenced

from clar_tune.cli import main
from clar_tune.graphs import catalogue
from clar_tune.space import parse_space

README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
MODELS, FILE, ENTRY, CHECKS, LOOP = PYTHON
(SPACE,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
CLUSTER = fenced("README.md", "On a cluster")
SHOWN = [line for line in (*fenced("README.md"), *fenced("docs/USAGE.md")) if line not in CLUSTER]
COMMANDS = [line.removeprefix("clar-tune ") for line in SHOWN if line.startswith("clar-tune ")]
ELSEWHERE = {
    "make run": "test_make.py",
    "make test": "test_make.py",
    "PIP_CONSTRAINT=constraints.txt pip install .": "test_cluster_guide.py",
}
"""Commands that other tests execute; those of the section on clusters: test_cluster_launch.py."""
PAGES = {
    "BENCHMARKS",
    "CLUSTER",
    "REPRODUCING",
    "RESULTS",
    "RESULTS_PLAN",
    "RESULTS_TABLES",
    "STORE",
    "USAGE",
}
"""Pages with commands, each of which has a test that executes all of them."""
NEEDS_DATA = ("chameleon", "cora", "texas")
LONG = ("--space heterophily",)
"""Commands that take long are executed with --dry-run."""


def test_the_loop_runs(tmp_path):
    script = tmp_path / "example.py"
    script.write_text(LOOP)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"accuracy 0\.\d{3}\n", done.stdout)


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder that the commands of README and docs share, one after the other.

    It has the files that the README shows, and the results that come with the project.
    """
    desk = tmp_path_factory.mktemp("readme")
    (desk / "my_models.py").write_text(MODELS)
    (desk / "my-space.yaml").write_text(SPACE)
    (desk / "docs").symlink_to(ROOT / "docs")
    return desk


@pytest.fixture(scope="module")
def ray(desk) -> Iterator[OneRay]:
    with one_ray(desk, os.environ) as ray:
        yield ray


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, request, desk, ray):
    command, _, target = command.partition(" > ")
    words = shlex.split(command)
    if any(name in command for name in NEEDS_DATA) and words[0] != "query":
        request.getfixturevalue("data_folder")
    if any(part in command for part in LONG):
        words.append("--dry-run")
    if words[0] == "repro":
        words[1] = _a_key(desk)
    done = ray.run(desk, *words)
    assert done.code == 0, done.err
    if target:
        (desk / target).write_text(done.out)


def test_a_penalty_without_a_name_is_called_so_once(tmp_path, monkeypatch):
    (tmp_path / "my_models.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    words = ("--graph", "csbm-homophily", "--method", "gcn+my_models:Shrink", "--max-epochs", "3")
    done = subprocess.run([CLAR_TUNE, "train", *words], capture_output=True, text=True, check=True)
    assert re.search(r"^penalty +\S+, with a gradient", done.stdout, re.MULTILINE), done.stdout


def test_a_graph_is_added_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = _row_of_the_graph(monkeypatch)

    def told(entry: str, *words: str) -> str:
        _add_graph(entry, monkeypatch)
        return CliRunner().invoke(main, [*words, "--data", "."]).output

    verify = ("graphs", "verify", "mine")
    assert told(row, *verify) == "mine: ok\n"
    wrong = told(row.replace("0.8", "0.9"), *verify)
    assert "homophily=0.8" in wrong, "it says what stands in the file"
    trained = ("train", "--graph", "mine", "--method", "gcn+clar", "--max-epochs", "3")
    assert "validation accuracy" in told(row, *trained)


def test_what_is_added_passes_the_tests_that_are_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAR_TUNE_DATA", str(tmp_path))
    _add_graph(_row_of_the_graph(monkeypatch), monkeypatch)
    models = ModuleType("my_models")
    exec(MODELS, vars(models))
    monkeypatch.setitem(sys.modules, "my_models", models)
    shown: dict[str, Any] = {}
    exec(CHECKS, shown)
    tests = {name: test for name, test in shown.items() if name.startswith("test_")}
    assert tests.keys() == {"test_skip", "test_shrink", "test_mine"}
    for test in tests.values():
        test()
    models.Skip.forward = lambda self, x, edge_index: self.skip(x)[:, :2]
    with pytest.raises(
        AssertionError, match=r"Skip on .*: logits .* shape \(13, 3\), nodes and out"
    ):
        shown["test_skip"]()


def _row_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> str:
    """The line of ``DATASETS`` as shown, its file written here, with the hash that is told."""
    exec(FILE, {})
    row = ENTRY.strip().rstrip(",")
    _add_graph(row, monkeypatch)
    told = CliRunner().invoke(main, ["graphs", "verify", "mine", "--data", "."]).output
    (digest,) = re.findall(r"mine/raw\) has the hash (\w+),", told)
    return row.replace("HASH", digest)


def _add_graph(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ((name, dataset),) = eval(f"{{{row}}}", vars(catalogue)).items()
    monkeypatch.setitem(catalogue.DATASETS, name, dataset)


def _a_key(desk: Path) -> str:
    from clar_tune.store import Store

    store = Store.open(desk / "clar-store")
    return str(store.table("finals", store.find("latest").name, ["key"]).to_pylist()[0]["key"])


def test_every_command_has_help_with_an_example():
    def walk(command: click.Command, path: str) -> None:
        if isinstance(command, click.Group):
            for name, child in command.commands.items():
                walk(child, f"{path} {name}")
        else:
            assert command.help and path in command.help, f"{path} shows no example"

    walk(main, "clar-tune")


def test_no_command_is_shown_that_is_not_executed():
    others = {line for line in SHOWN if not line.startswith("clar-tune ")}
    assert others == ELSEWHERE.keys()
    pages = {page.stem for page in (ROOT / "docs").glob("*.md") if fenced(f"docs/{page.name}")}
    assert pages == PAGES


def test_every_command_stands_in_the_readme():
    for name in main.commands:
        assert f"clar-tune {name}" in README


def test_the_space_in_the_docs_is_valid(monkeypatch):
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/SPACES.md").read_text(), re.DOTALL)
    space = parse_space(text.replace("my_models:MyGNN", "sage"), "docs", "docs/SPACES.md")
    assert set(space.settings) == {"tuned", "paper"} and space.studies > 0


def test_every_column_stands_in_the_docs():
    from dataclasses import fields

    from clar_tune.rows import TABLES

    text = (ROOT / "docs/STORE.md").read_text()
    for table, row in TABLES.items():
        for field in fields(row):
            assert re.search(rf"\b{field.name}\b", text), f"{field.name} of {table}"
