"""The guide to clusters shows commands and options that exist."""

import re
import shlex

import click
import pytest
from support.pages import ROOT

from clar_tune.cli import main

GUIDE = (ROOT / "docs" / "CLUSTER.md").read_text()
SHOWN = re.findall(r"^\$ clar-tune (.+?)(?:  +#.*)?$", GUIDE, re.MULTILINE)
INLINE = re.findall(r"`clar-tune ([^`]+)`", GUIDE)
PLACES = ("cluster.yaml", "docs/cluster/cpu-only.yaml", "docs/cluster/on-premise.yaml")


def test_the_guide_shows_commands():
    assert len(SHOWN) > 5


@pytest.mark.parametrize("line", sorted({*SHOWN, *INLINE}))
def test_commands_and_options_exist(line):
    words = shlex.split(line)
    named = [main.commands[words[0]]]
    if words[0] == "submit":  # it passes the rest on to another command
        named.append(main.commands[next(word for word in words[1:] if word in main.commands)])
    known = {option for command in named for option in options(command)}
    assert {word for word in words if word.startswith("-")} <= known


def options(command: click.Command) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts]


def test_files_exist():
    for place in PLACES:
        assert place in GUIDE and (ROOT / place).exists()
    for link in re.findall(r"\]\(([^)#]+)\)", GUIDE):
        assert (ROOT / "docs" / link).exists()
