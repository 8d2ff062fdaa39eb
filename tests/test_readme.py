"""The commands and examples that the README and the docs show run; numbers are not compared."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from commands import CLAR_TUNE

from clar_tune.cli import main
from clar_tune.space import parse_space

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ clar-tune (.+)$", README, re.MULTILINE)
NEEDS_DATA = ("chameleon", "cora", "texas")
LONG = ("--space heterophily",)
"""Commands that take long are executed with --dry-run."""


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_examples_run(number, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(PYTHON[number])
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"accuracy 0\.\d{3}\n", done.stdout)


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with a store, which the commands of the README share, one after the other."""
    return tmp_path_factory.mktemp("readme")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, request, desk):
    if any(name in command for name in NEEDS_DATA):
        request.getfixturevalue("data_folder")
    words = shlex.split(command)
    if any(part in command for part in LONG):
        words.append("--dry-run")
    if words[0] == "repro":
        words[1] = _a_key(desk)
    environment = {**os.environ, "XDG_CACHE_HOME": str(desk / "cache")}
    done = subprocess.run(
        [CLAR_TUNE, *words], cwd=desk, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _a_key(desk: Path) -> str:
    from clar_tune.store import Store

    store = Store.open(desk / "clar-store")
    return str(store.finals(store.find("latest").name, ["key"]).to_pylist()[0]["key"])


def test_every_command_has_help_with_an_example():
    def walk(command: click.Command, path: str) -> None:
        if isinstance(command, click.Group):
            for name, child in command.commands.items():
                walk(child, f"{path} {name}")
        else:
            assert command.help and path in command.help, f"{path} shows no example"

    walk(main, "clar-tune")


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
