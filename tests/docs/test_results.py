"""The pages of results and the README say what the runs in docs/results say, to the letter."""

import re
import shlex
import shutil

import pytest
from click.testing import CliRunner

from benchmarks.results_page import FIGURES, PAGE, ROOT, TABLES, commands, figures, refreshed
from clar_tune.cli import main
from clar_tune.report.figures.files import drawn

TEXT = f"{PAGE.read_text()}\n{TABLES.read_text()}"
README = (ROOT / "README.md").read_text()
OUTPUTS = re.compile(r"```console\n.*?```|<!-- output -->.*?<!-- end of output -->", re.DOTALL)
NUMBERS = re.compile(r"[+-]?\d+\.\d+ ± \d+\.\d+")
"""Means or gains with their intervals."""
COMMANDS = re.findall(r"^(?:\$ )?clar-tune (.+)$", TEXT, re.MULTILINE)
COMPARED = [command for command in COMMANDS if command.startswith("compare")]
BEFOREHAND = (ROOT / "docs" / "RESULTS_PLAN.md").read_text()
"""What was written down before the runs."""
PLANNED = re.findall(r"^(?:\$ )?clar-tune (run .+)$", f"{TEXT}\n{BEFOREHAND}", re.MULTILINE)


@pytest.fixture(autouse=True)
def at_the_top(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_the_page_is_what_its_commands_print():
    assert refreshed(TEXT) == TEXT


def test_every_command_that_reads_the_runs_has_its_output_compared():
    reading = [f"clar-tune {c}" for c in COMMANDS if c.startswith(("compare", "query"))]
    assert sorted(commands(TEXT)) == sorted(reading) != []


def test_a_table_that_differs_is_noticed():
    number = NUMBERS.findall("".join(OUTPUTS.findall(TEXT)))[0]
    spoilt = TEXT.replace(number, "99.99 ± 9.99")
    assert refreshed(spoilt) != spoilt


def test_numbers_in_sentences_stand_in_the_tables():
    printed = "".join(OUTPUTS.findall(TEXT))
    printed = re.sub(r"[*\\§¶†‡⊥]", "", printed)
    told = NUMBERS.findall(OUTPUTS.sub("", TEXT))
    assert told
    assert [number for number in told if number not in printed] == []


def test_every_stored_run_is_on_the_pages():
    stored = {path.name.removeprefix("run=") for path in (ROOT / "docs/results/runs").iterdir()}
    named = {word for command in COMPARED for word in shlex.split(command)}
    assert stored <= named


def test_figures_are_those_of_the_runs():
    """Every value of a figure stands in its labels; where it is drawn depends on fonts."""
    shown = list(figures(TEXT))
    assert shown
    for name, figure in shown:
        assert labels((FIGURES / name).read_text()) == labels(drawn(figure)) != []
    assert {file.name for file in FIGURES.iterdir()} == {name for name, _ in shown}


def labels(svg: str) -> list[str]:
    return re.findall(r'aria-label="([^"]*)"', svg) + re.findall(r">([^<>]+)</text>", svg)


WINNERS = re.findall(r"^clar-tune (spaces winners .+) > (\S+)$", BEFOREHAND, re.MULTILINE)
"""Commands that make a space of the winners of a stored run, and its file."""


@pytest.mark.parametrize("command", PLANNED)
def test_runs_are_planned(command, monkeypatch, tmp_path):
    """Without the graphs, so that no epochs are probed."""
    monkeypatch.delenv("CLAR_TUNE_DATA", raising=False)
    for make, file in WINNERS:
        made = CliRunner().invoke(main, [*shlex.split(make), "--store", "docs/results"])
        assert made.exit_code == 0, made.output
        (tmp_path / file).write_text(made.stdout)
        command = command.replace(file, str(tmp_path / file))
    words = shlex.split(command)
    more = [] if "--dry-run" in words else ["--dry-run"]
    done = CliRunner().invoke(main, [*words, *more])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("resume")])
def test_what_was_resumed_is_finished(command, tmp_path):
    copied = shutil.copytree(ROOT / "docs" / "results", tmp_path / "store")
    done = CliRunner().invoke(main, [*shlex.split(command), "--store", str(copied)])
    assert done.exit_code == 0, done.output
    assert "nothing is left to do" in done.output


def test_no_command_is_left_out():
    assert {shlex.split(c)[0] for c in COMMANDS} == {"compare", "query", "run", "resume"}


def test_the_readme_shows_a_table_and_a_figure_of_the_page():
    tables = re.findall(r"(?:^\|.*\n)+", README, re.MULTILINE)
    assert [table for table in tables if table in TEXT]
    assert refreshed(README) == README
    (figure,) = re.findall(r"!\[[^]]*\]\(docs/figures/([^)]+)\)", README)
    assert (FIGURES / figure).exists()
