"""``clar-tune export`` writes what optuna-dashboard opens."""

from dataclasses import replace

import optuna
import pytest
from support.exports import called
from support.results import simulated, stored

from clar_tune.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("export") / "store"
    stored(folder, *simulated())
    return str(folder)


def test_several_runs_go_into_one_file(tmp_path):
    row, memory = simulated()
    stored(tmp_path / "store", row, memory, "first")
    opened = stored(tmp_path / "store", row, memory, "second")
    path = tmp_path / "both.log"
    words = ["--optuna", str(path), "--store", opened.url]
    # A run that is named twice is written once.
    done = called(*words, "--run", "first", "--run", "sec", "--run", "first")
    assert done.exit_code == 0, done.output
    assert "36 studies with 288 trials of first, second" in done.output
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    names = optuna.get_all_study_names(optuna.storages.JournalStorage(backend))
    assert len(names) == 36 and "second / texas / sage" in names


def test_ranges_are_known_where_a_model_is_not_here(tmp_path):
    row, memory = simulated()
    text = row.space_text.replace("sage+clar]", "sage+clar, not_here_at_all:Model]")
    opened = stored(tmp_path / "store", replace(row, space_text=text), memory)
    done = called("--optuna", str(tmp_path / "run.log"), "--store", opened.url)
    assert done.exit_code == 0, done.output
    assert not done.stderr


def test_a_space_that_cannot_be_read_makes_ranges_guesses(tmp_path):
    row, memory = simulated()
    text = row.space_text.replace("high: 0.1,", "hihg: 0.1,")
    older = replace(row, space_text=text, study_plans=[], graph_facts={})
    opened = stored(tmp_path / "store", older, memory)
    done = called("--optuna", str(tmp_path / "run.log"), "--store", opened.url)
    assert done.exit_code == 0, done.output
    assert "simulated: ranges are guessed from values" in done.stderr
    assert "hihg" in done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [("run.txt", ".db, .sqlite"), ("old.db", "exists"), ("no/run.db", "no folder")],
)
def test_a_wrong_target_is_one_line_and_changes_nothing(name, text, store, tmp_path):
    (tmp_path / "old.db").write_text("mine")
    done = called("--optuna", str(tmp_path / name), "--store", store)
    assert done.exit_code == 1 and text in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["old.db"]
    assert (tmp_path / "old.db").read_text() == "mine"


def test_a_run_that_has_not_begun_has_nothing_to_write(tmp_path):
    row, _ = simulated()
    opened = Store.open(tmp_path / "store")
    opened.create("empty", row).close(state="interrupted", ended=row.ended, seconds=0.0)
    done = called("--optuna", str(tmp_path / "run.log"), "--store", str(tmp_path / "store"))
    assert done.exit_code == 1 and "empty: no study has begun" in done.stderr
    assert not (tmp_path / "run.log").exists()


def test_help_says_that_test_scores_are_left_out():
    assert "Test scores are not" in " ".join(called("--help").output.split())
