"""docs/REPRODUCING.md: its commands run, and its numbers are those of the runs stored beside it.

Searches are planned in full, trainings are cut short, comparisons are made as they stand there.
"""

import csv
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.pages import ROOT

from clar_tune.cli import main
from clar_tune.space import shipped_spaces

PAGE = (ROOT / "docs" / "REPRODUCING.md").read_text()
SECTIONS = {text.splitlines()[0]: text for text in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
COMPARE = re.compile(r"^clar-tune (compare --store docs/reproducing .+)$", re.MULTILINE)
STORED = [title for title, text in SECTIONS.items() if COMPARE.search(text)]
NUMBERS = re.compile(r"\d+\.\d+ ± \d+\.\d+|[+-]\d\.\d{3} to [+-]\d\.\d{3}|\d\.\d{4}(?= \()")
"""Means with their intervals, ends of intervals, and ratios before that of the paper."""
COMMANDS = re.findall(r"^clar-tune (.+)$", PAGE, re.MULTILINE)
SHORT = {"run": ["--dry-run"], "train": ["--max-epochs", "3", "--warmup", "1"], "compare": []}


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """Spectra are kept in it."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def reported(data_folder, cache) -> tuple[Result, Path]:
    """What ``report`` says, and its figures, kept out of the project: the last options count."""
    (command,) = (command for command in COMMANDS if command.startswith("report"))
    into = ["--out", str(cache / "report.html"), "--figures", str(cache / "figures")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        patch.chdir(ROOT)
        return CliRunner().invoke(main, [*shlex.split(command), *into]), cache / "figures"


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command, data_folder, cache, monkeypatch, request):
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.chdir(ROOT)
    words = shlex.split(command)
    if words[0] == "report":
        done, _ = request.getfixturevalue("reported")
    else:
        done = CliRunner().invoke(main, [*words, *SHORT[words[0]]])
    assert done.exit_code == 0, done.output


def test_learned_responses_are_those_of_the_stored_run(reported):
    _, figures = reported
    table = (figures / "responses-chameleon.csv").read_text()
    rows = list(csv.DictReader(table.splitlines()))
    shown = dict(re.findall(r"^\| (gpr|cheby, layer \d) \| ([\d. |]+) \|$", PAGE, re.MULTILINE))
    assert len(shown) == 3
    for line, numbers in shown.items():
        own = [row for row in rows if row["line"] == line.replace(",", "")]
        means = {float(row["eigenvalue"]): float(row["mean"]) for row in own}
        assert numbers.split(" | ") == [f"{means[value]:.2f}" for value in (0, 0.5, 1, 1.5, 2)]


def test_every_other_table_and_figure_of_the_paper_has_its_command():
    planned = {shlex.split(command)[2] for command in COMMANDS if command.startswith("run")}
    elsewhere = {"quickstart", "homophily", "heterophily", "all", "clar-forms"}
    assert planned == set(shipped_spaces()) - elsewhere


@pytest.mark.parametrize("title", STORED)
def test_numbers_are_those_of_the_stored_runs(title, monkeypatch):
    monkeypatch.chdir(ROOT)
    section, told = SECTIONS[title], ""
    for command in COMPARE.findall(section):
        done = CliRunner().invoke(main, [*shlex.split(command), "--format", "markdown"])
        assert done.exit_code == 0, done.output
        told += re.sub(r"[*\\§¶†‡]", "", done.output)
    shown = NUMBERS.findall(section)
    assert shown
    assert [number for number in shown if number not in told] == []


def test_tables_and_figures_are_stored():
    assert STORED, "or nothing was compared above"
