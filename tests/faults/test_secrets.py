"""Credentials stay where they are: no manifest, log, page or list of processes shows them."""

import json
import tempfile
from pathlib import Path

import psutil
import pytest
from support.s3_place import S3Place

from benchmarks.s3_server import ACCESS_KEY, SECRET_KEY, SESSION_TOKEN, s3_server

RAY_TOKEN = "ray-t0ken-of-the-tests-5f2d9c1e7b3a4860"
SECRETS = {
    "access key": ACCESS_KEY,
    "secret key": SECRET_KEY,
    "session token": SESSION_TOKEN,
    "Ray's token": RAY_TOKEN,
}


def told(text: str | bytes) -> set[str]:
    """Which secrets a text shows."""
    data = text.encode() if isinstance(text, str) else text
    return {name for name, secret in SECRETS.items() if secret.encode() in data}


def commands(processes: list[psutil.Process]) -> str:
    """The command lines of processes, as anyone on the machine can read them."""
    lines = []
    for process in processes:
        try:
            lines.append(" ".join(process.cmdline()))
        except psutil.Error:  # it has just ended
            continue
    return "\n".join(lines)


@pytest.fixture(scope="module")
def server():
    with s3_server() as running:
        yield running


@pytest.fixture
def place(server, tmp_path, monkeypatch):
    # Ray's own folder; paths below that of pytest are too long for its sockets.
    with tempfile.TemporaryDirectory(dir="/tmp") as sessions:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        made = S3Place(tmp_path, server)
        made.given |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": RAY_TOKEN}
        made.given["RAY_TMPDIR"] = sessions
        yield made


def test_nothing_that_a_run_leaves_or_shows_holds_a_secret(place):
    place.pace(0.1)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        environment = psutil.Process(going.process.pid).environ()
        assert told("\n".join(environment.values())) == set(SECRETS), "the run has them all"
        going.wait_for(lambda: len(place.repeats("it")) >= 2, "two repeats")
        going.wait_for(going.workers, "a worker")
        seen = commands(going.tree())
        assert "raylet" in seen and told(seen) == set()
        place.pace(None)
        done = going.end()
    assert done.code == 0, done.err
    assert told(done.out + done.err) == set()

    reported = place.run("report", "--out", "report.html")
    assert reported.code == 0, reported.err
    for words in (("show", "it", "--json"), ("query", "FROM runs", "--format", "json")):
        said = place.run(*words)
        assert said.code == 0 and told(said.out + said.err) == set()
    for run in place.store.runs():
        assert told(json.dumps([run.row.options, run.row.machine, run.row.versions])) == set()

    folders = (place.folder, Path(place.given["RAY_TMPDIR"]))
    left = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert {"it.log", "report.html", "raylet.out"} <= {path.name for path in left}
    assert [path for path in left if told(path.read_bytes())] == []
    stored = place.store._files.under("")
    assert len(stored) == 5, "a part of each table, and the lease"
    assert [path for path in stored if told(place.store._files.read(path))] == []


@pytest.mark.parametrize("fault", ["AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL"])
def test_no_error_repeats_a_secret(place, fault):
    wrong = {"AWS_ACCESS_KEY_ID": "AKIDOTHER", "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    place.given[fault] = wrong[fault]
    for words in (("runs",), ("run", "--space", "space.yaml", "--name", "it")):
        done = place.run(*words)
        assert done.code == 1 and done.err
        assert told(done.out + done.err) == set() and "AKIDOTHER" not in done.err
