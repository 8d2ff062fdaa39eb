"""The commands and examples that the README shows run; their numbers are not compared."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from clar_tune.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ clar-tune (.+)$", README, re.MULTILINE)
NEEDS_DATA = ("chameleon", "cora")


@pytest.mark.parametrize("number", range(len(PYTHON)))
def test_examples_run(number, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(PYTHON[number])
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"accuracy 0\.\d{3}\n", done.stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, request):
    if any(name in command for name in NEEDS_DATA):
        request.getfixturevalue("data_folder")
    result = CliRunner().invoke(main, shlex.split(command))
    assert result.exit_code == 0, result.output


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
