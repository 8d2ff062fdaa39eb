"""The list of commands, and what shells complete."""

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from support.results import simulated, stored

from clar_tune.cli import main
from clar_tune.cli.help import TASKS


def test_every_command_belongs_to_one_task():
    listed = [name for names in TASKS.values() for name in names]
    assert sorted(listed) == sorted(main.commands)


def test_no_sentence_about_a_command_is_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = CliRunner().invoke(main, ["--help"], terminal_width=80).stdout
    assert list(map(text.index, TASKS)) == sorted(map(text.index, TASKS))
    assert "..." not in text.partition(next(iter(TASKS)))[2]
    printed = "".join(text.split())
    for name, command in main.commands.items():
        sentence = command.get_short_help_str(limit=1000)
        assert sentence.endswith(".") and "".join(f"{name}{sentence}".split()) in printed


def suggested(words, begun):
    found = ShellComplete(main, {}, "clar-tune", "_CLAR_TUNE_COMPLETE").get_completions(
        words, begun
    )
    return [item.value for item in found if item.type == "plain"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    for name in ("first", "second"):
        stored(folder, *simulated(), name)
    return str(folder)


@pytest.mark.parametrize(
    ("words", "begun", "expected"),
    [
        (["run", "--space"], "hetero", ["heterophily"]),
        (["spaces", "show"], "quick", ["quickstart"]),
        (["run", "--graphs"], "cora,cham", ["cora,chameleon", "cora,chameleon-filtered"]),
        (["train", "--graph"], "tex", ["texas"]),
        (["run", "--space", "planetoid", "--methods"], "gcn,sa", ["gcn,sage"]),
        (["train", "--method"], "gcn+madr", ["gcn+madreg"]),
    ],
)
def test_names_are_completed(words, begun, expected):
    found = suggested(words, begun)
    assert found[: len(expected)] == expected


@pytest.mark.parametrize(
    "words",
    [
        "show --store STORE",
        "show --store STORE --run",
        "resume --store STORE",
        "compare --store STORE first",
        "report --store STORE --run",
        "repro --store STORE 3f2a9c",
    ],
)
def test_runs_are_completed(words, store):
    assert suggested(words.replace("STORE", store).split(), "f") == ["first"]
    assert suggested(words.replace("STORE", store).split(), "la") == ["latest"]


def test_a_store_that_cannot_be_read_completes_nothing():
    assert suggested(["show", "--store", "nowhere://x"], "f") == []
