"""``clar-tune export`` writes what optuna-dashboard opens."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.error import URLError

import optuna
import pytest
from click.testing import CliRunner
from results import simulated, stored, view

from clar_tune.cli import main
from clar_tune.overview import RunView
from clar_tune.store import Store

DASHBOARD = Path(sys.executable).with_name("optuna-dashboard")
OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@cache
def run() -> RunView:
    return view(*simulated())


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("export") / "store"
    stored(folder, *simulated())
    return str(folder)


def called(*words: str):
    return CliRunner().invoke(main, ["export", *words])


@contextmanager
def dashboard(target: str) -> Iterator[str]:
    """The real dashboard at work on a file; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [DASHBOARD, "--host", "127.0.0.1", "--port", str(port), "--server", "wsgiref", target],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def answer(url: str) -> dict:
    """What it says, once it listens."""
    until = time.monotonic() + 120
    while True:
        try:
            with OPEN(url, timeout=60) as got:
                return dict(json.load(got))
        except URLError:
            assert time.monotonic() < until, f"{url} does not answer"
            time.sleep(0.2)


@pytest.mark.parametrize("name", ["run.sqlite3", "run.journal"])
def test_the_dashboard_opens_it(name, store, tmp_path):
    path = tmp_path / name
    done = called("--optuna", str(path), "--store", store)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert f"{path}: 18 studies with 144 trials of simulated" in done.output
    command, target = done.output.splitlines()[-1].split()
    assert command == "optuna-dashboard"
    with dashboard(target) as url:
        summaries = answer(f"{url}/api/studies")["study_summaries"]
        assert {s["study_name"] for s in summaries} == {
            f"simulated / {study.graph} / {study.method}" for study in run().studies
        }
        for study in run().studies[:2]:
            name = f"simulated / {study.graph} / {study.method}"
            (number,) = (s["study_id"] for s in summaries if s["study_name"] == name)
            detail = answer(f"{url}/api/studies/{number}")
            assert detail["directions"] == ["maximize"]
            assert len(detail["trials"]) == len(study.trials)
            assert detail["best_trials"][0]["number"] == study.winner.trial
            assert detail["objective_names"] == ["validation accuracy"]
            lr = next(p for p in detail["union_search_space"] if p["name"] == "lr")
            assert lr["distribution"]["log"] is True


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


def test_a_model_that_is_not_here_makes_ranges_guesses(tmp_path):
    row, memory = simulated()
    text = row.space_text.replace("sage+clar]", "sage+clar, not_here_at_all:Model]")
    opened = stored(tmp_path / "store", replace(row, space_text=text), memory)
    done = called("--optuna", str(tmp_path / "run.log"), "--store", opened.url)
    assert done.exit_code == 0, done.output
    assert "simulated: ranges are guessed from values" in done.stderr
    assert "not_here_at_all" in done.stderr


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
