"""Exported studies in optuna-dashboard."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError

import pytest
from support.exports import called, run
from support.results import simulated, stored

DASHBOARD = Path(sys.executable).with_name("optuna-dashboard")
OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("export") / "store"
    stored(folder, *simulated())
    return str(folder)


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
