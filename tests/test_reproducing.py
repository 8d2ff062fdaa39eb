"""The commands of docs/REPRODUCING.md: searches are planned in full, trainings are cut short."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from clar_tune.cli import main
from clar_tune.space import shipped_spaces

PAGE = (Path(__file__).parent.parent / "docs" / "REPRODUCING.md").read_text()
COMMANDS = re.findall(r"^clar-tune (.+)$", PAGE, re.MULTILINE)
SHORT = {"run": ["--dry-run"], "train": ["--max-epochs", "3", "--warmup", "1"]}


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """Spectra are kept in it."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, data_folder, cache, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    words = shlex.split(command)
    done = CliRunner().invoke(main, [*words, *SHORT[words[0]]])
    assert done.exit_code == 0, done.output


def test_every_other_table_and_figure_of_the_paper_has_its_command():
    planned = {shlex.split(command)[2] for command in COMMANDS if command.startswith("run")}
    elsewhere = {"quickstart", "homophily", "heterophily", "all"}
    assert planned == set(shipped_spaces()) - elsewhere
