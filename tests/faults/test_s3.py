"""Searches whose store is a bucket: killed, resumed, refused, and read by every command."""

import json
import re
import time
import urllib.request

import pytest
from support.commands import WITHOUT_RAY, assert_exact
from support.s3_place import S3Place

from benchmarks.s3_server import BUCKET, s3_server
from clar_tune.store.lease import read_lease

REFUSED = 30.0
"""Seconds for which writes are refused."""


@pytest.fixture(scope="module")
def server():
    with s3_server() as running:
        yield running


@pytest.fixture
def place(server, tmp_path, monkeypatch):
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield S3Place(tmp_path, server)
    server.refuse_writes(None)


def objects(place: S3Place) -> list[str]:
    return place.store._files.under("")


def test_a_search_is_killed_resumed_and_read_by_every_command(place):
    place.pace(0.5)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(lambda: len(place.repeats("it")) >= 3, "three repeats")
        second = place.run("resume", "it")
        assert second.code == 1
        assert re.match(
            rf"clar-tune: run it has a driver at work: process {going.process.pid} on \S+, last "
            r"heard of \d+ s ago\. .*\n$",
            second.err,
        )
        stored = place.trainings("it")
        assert going.kill() == []
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    assert not place.finals("it"), "it was killed in its search"

    place.pace(None)
    # The same place by its address instead of the environment.
    del place.given["AWS_ENDPOINT_URL"]
    host = place.server.endpoint.partition("//")[2]
    url = f"{place.url}?endpoint_override={host}&scheme=http&region=eu-central-1"
    resumed = place.run("resume", "it", "--quiet", "--store", url)
    assert (resumed.code, resumed.err) == (0, "")
    done = place.trainings("it")
    assert {key: done[key] for key in after} == after
    assert_exact(place, "it", trials=6, repeats=3, finals=3)
    assert sorted(objects(place)) == [
        "finals/run=it/part-00000.parquet",
        "repeats/run=it/part-00000.parquet",
        "runs/run=it/_lease.json",  # released; it cannot be removed under a condition
        "runs/run=it/part-00000.parquet",
        "trials/run=it/part-00000.parquet",
    ]
    assert not [path for path in place.cache.rglob("wal/*/*") if "driver" in path.name]
    assert not list(place.cache.rglob("*.jsonl"))
    place.given["CLAR_TUNE_STORE"] = url
    assert_readable(place, keys=list(done))


def assert_readable(place: S3Place, keys: list[str]) -> None:
    """Every reading command finds the finished run."""

    def said(*words: str) -> str:
        done = place.run(*words)
        assert done.code == 0, (words, done.err)
        return done.out

    assert said("runs").startswith("it  finished")
    assert said("show", "it").startswith("it: finished, 1 of 1 studies")
    assert "own_models:Paced" in said("compare", "--format", "csv")
    counts = "SELECT (SELECT count(*) FROM repeats) AS r, (SELECT count(*) FROM finals) AS f"
    [row] = json.loads(said("query", counts, "--format", "json"))
    assert row == {"r": len(keys) - 3, "f": 3}
    best = said("best", "--graph", "csbm-homophily", "--method", "own_models:Paced")
    assert "lr:" in best and "of run it" in best
    assert keys[0] in said("repro", keys[0][:10])
    said("report", "--out", "report.html")
    assert "own_models:Paced" in (place.folder / "report.html").read_text()
    said("export", "--optuna", "run.log")
    assert (place.folder / "run.log").stat().st_size
    with place.started("report", "--live") as going:
        going.wait_for(lambda: "http:" in going.out.read_text(), "an address")
        address = going.out.read_text().strip()
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"own_models:Paced" in page.read()


def test_writes_that_are_refused_for_half_a_minute_lose_nothing(place):
    place.program = WITHOUT_RAY
    place.pace(0.3)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(lambda: place.repeats("it"), "a repeat")
        place.server.requests()
        place.server.refuse_writes("slow-down")
        began, stored = time.monotonic(), len(place.repeats("it"))
        going.wait_for(lambda: time.monotonic() - began > REFUSED, "the end of the refusal")
        assert len(place.repeats("it")) > stored, "the run went on"
        refused = [line for line in place.server.requests() if line.endswith(" 503")]
        assert any("/run=it/" in line for line in refused)
        assert not [line for line in refused if not line.startswith(("PUT", "POST", "DELETE"))]
        before = place.trainings("it")
        place.server.refuse_writes(None)
        place.pace(None)
        done = going.end()
    assert done.code == 0, done.err
    assert place.store.find("it").row.state == "finished"
    after = place.trainings("it")
    assert {key: after[key] for key in before} == before
    assert_exact(place, "it", trials=6, repeats=3, finals=3)


def test_another_machine_does_again_what_never_arrived_and_says_how_much(place, monkeypatch):
    elsewhere = place.folder / "elsewhere"

    def seen_elsewhere() -> int:
        with monkeypatch.context() as patch:
            patch.setenv("XDG_CACHE_HOME", str(elsewhere))
            return len(place.trials("it")) + len(place.repeats("it"))

    def ahead() -> bool:
        holder = read_lease(place.store._files, "it")
        return holder is not None and holder.seq >= seen_elsewhere() + 2

    place.program = WITHOUT_RAY
    place.given["CLAR_TUNE_LEASE"] = "0.5/60"  # it is told twice a second which row is the last
    place.pace(0.3)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(ahead, "rows that the lease knows and the bucket does not hold")
        assert going.kill() == []
    told = read_lease(place.store._files, "it").seq
    assert len(place.trainings("it")) > 0, "on the same machine nothing is lost"

    place.cache = elsewhere
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere))
    arrived = [*place.trials("it"), *place.repeats("it"), *place.finals("it")]
    lost = told - max((row["seq"] for row in arrived), default=-1)
    place.pace(None)
    resumed = place.run("resume", "it")
    assert resumed.code == 0, resumed.err
    assert f"{lost} rows were never flushed by the last driver" in resumed.err
    assert_exact(place, "it", trials=6, repeats=3, finals=3)
    assert place.store.find("it").row.state == "finished"


def test_what_is_wrong_with_a_bucket_is_one_line(place):
    def refused(words: tuple[str, ...], **environment: str) -> str:
        given, place.given = place.given, {**place.given, **environment}
        done = place.run(*words)
        place.given = given
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done.err
        return done.err

    run = ("run", "--space", "space.yaml", "--name", "it", "--quiet")
    nowhere = "there is no bucket 'nowhere'. Create it first.\n"
    assert refused(("runs", "--store", "s3://nowhere/x")).endswith(nowhere)
    assert refused((*run, "--store", "s3://nowhere/x")).endswith(nowhere)
    unknown = "the credentials of this environment do not allow it"
    assert unknown in refused(run, AWS_ACCESS_KEY_ID="AKIDUNKNOWN")
    assert unknown in refused(("query", "FROM runs"), AWS_ACCESS_KEY_ID="AKIDUNKNOWN")
    dead = refused(("compare",), AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert "the endpoint does not answer" in dead
    secret = refused(("runs", "--store", f"s3://AKIDKEY:hidden@{BUCKET}/x"))
    assert "credentials" in secret and "hidden" not in secret and "AKIDKEY" not in secret
    assert objects(place) == []
