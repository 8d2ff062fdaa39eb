"""Drivers that were stopped and overtaken, as processes; some on a local Ray."""

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import pandas
import psutil
import pytest
from support.commands import PACED, PATIENCE, WITHOUT_RAY, Place, assert_exact
from support.stopped import TRIALS, driver
from support.stored_rows import contents, final_row, run_row

from benchmarks.s3_server import BUCKET, s3_server
from clar_tune.store import Store, resolve
from clar_tune.store.lease import read_lease

EXPIRY = 1.0
STOPPABLE = """
import os, signal
from pathlib import Path
from clar_tune.store import RunWriter, writer

writer.LOCAL_PERIOD = 1.0  # a flush is due as soon as the driver goes on
tick = RunWriter.tick

def stop_in_time(run):
    stop = Path("stop-after-rows")
    if stop.exists() and run._seq >= int(stop.read_text()):
        with run._lease._guard:  # not while its other thread has locked the run's folder
            stop.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
    tick(run)

RunWriter.tick = stop_in_time
from clar_tune.cli import main

main()
"""
"""``clar-tune`` with a driver that stops itself, between two rows, when a file says so."""


class HastyPlace(Place):
    """A folder whose drivers are overtaken soon after they fall silent."""

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "CLAR_TUNE_LEASE": f"0.2/{EXPIRY}"}


@contextmanager
def stopped(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """Processes that do nothing meanwhile; they go on even if the test fails."""
    try:
        _send(signal.SIGSTOP, processes)
        yield
    finally:
        _send(signal.SIGCONT, processes)


def _send(number: int, processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


@pytest.mark.parametrize("with_children", [False, True])
def test_a_stopped_driver_that_was_overtaken_writes_nothing_says_so_and_fails(
    tmp_path, with_children
):
    place = HastyPlace(tmp_path, PACED)
    place.program = (sys.executable, "-c", STOPPABLE)
    place.pace(0.1)
    (tmp_path / "stop-after-rows").write_text("8")
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        driver = psutil.Process(going.process.pid)
        going.wait_for(lambda: driver.status() == psutil.STATUS_STOPPED, "the driver's stop")
        assert 0 < len(place.repeats("it")) < 3 * 6
        with stopped(going.tree() if with_children else [driver]):
            going.wait_for(
                lambda: read_lease(place.store._files, "it").age > EXPIRY, "the end of its lease"
            )
            place.pace(None)
            place.program = WITHOUT_RAY
            second = place.run("resume", "it", "--quiet")
            assert (second.code, second.err) == (0, "")
            after_second = contents(tmp_path / "store")
        done = going.end()
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        "clar-tune: run it: its lease is gone: another driver took over and has ended, or the "
        "store was moved or removed. This driver stops and writes nothing more."
    )
    assert "Traceback" not in done.err
    assert done.out == ""
    assert contents(tmp_path / "store") == after_second
    assert place.store.find("it").row.state == "finished"
    assert_exact(place, "it", trials=6, repeats=3, finals=3)


DIRECTORY_POINTS = [
    "after-taking",
    "after-claims",
    "after-append",
    "before-rename trials/ 2",
    "before-rename repeats/ 2",
    "before-rename finals/",
    "before-rename _wal.jsonl 3",
    "before-rename _lease.json 2",
    "before-rename runs/run=it/part",
    "between-tables trials 2",
    "between-tables finals 2",
    "before-removal _wal.jsonl",
    "before-removal _lease.json",
]
BUCKET_POINTS = [
    "after-taking",
    "after-claims",
    "after-append",
    "before-put trials/ 2",
    "before-put repeats/ 2",
    "before-put repeats/run=it/part-00001",
    "before-put finals/",
    "before-put _lease.json 2",
    "before-put runs/run=it/part",
    "between-tables repeats 2",
]


@pytest.fixture
def directory(tmp_path):
    """A run in a directory, and all that its store holds."""
    return str(tmp_path / "store"), lambda: contents(tmp_path / "store")


@pytest.fixture(scope="module")
def server():
    with s3_server() as running:
        yield running


@pytest.fixture
def bucket(server, request, tmp_path, monkeypatch):
    """A run in a bucket, and all that it holds."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"s3://{BUCKET}/{tmp_path.name}"
    files = Store.open(url)._files
    return url, lambda: {path: files.read(path) for path in files.under("")}


def overtaken(place, stop_at: str, *, group: bool = False, elsewhere: str = "") -> None:
    """Stop a driver at a point, let another finish the run, and continue the first one."""
    url, held = place
    Store.open(url).create("it", run_row()).close()
    with driver(url, stop_at, group=group) as first:
        first.wait_for_stop()
        wait_for_expiry(url)
        given = {"XDG_CACHE_HOME": elsewhere} if elsewhere else {}
        with driver(url, **given) as second:
            code, safe, err = second.end()
        assert (code, err) == (0, "")
        after_second = held()
        first.go_on()
        code, told, err = first.end()
    assert code == 1 and err.count("\n") == 1, err
    assert err.startswith("clar-tune: run it: ")
    assert err.endswith("This driver stops and writes nothing more.\n")
    assert held() == after_second
    assert_every_key_once(url, {*told, *safe} if not elsewhere else set(safe))


def wait_for_expiry(url: str) -> None:
    """Until the driver counts as gone."""
    files, until = Store.open(url)._files, time.monotonic() + PATIENCE
    while (holder := read_lease(files, "it")) and holder.age <= EXPIRY:
        assert time.monotonic() < until
        time.sleep(0.05)


def read_plainly(url: str, table: str) -> pandas.DataFrame:
    """A table as pandas alone reads it."""
    address = resolve(url)
    return pandas.read_parquet(f"{address.path}/{table}", filesystem=address.filesystem)


def assert_every_key_once(url: str, safe: set[str]) -> None:
    """Whoever reads the files, with this program or without it."""
    wanted = {f"{number:016x}" for number in range(3 * TRIALS)}
    assert safe - {final_row(0).key} <= wanted
    for table, keys in (("repeats", wanted), ("finals", {final_row(0).key})):
        frame = read_plainly(url, table)
        assert sorted(frame["key"]) == sorted(keys)
        assert sorted(Store.open(url).table(table, "it")["key"].to_pylist()) == sorted(keys)
    frame = read_plainly(url, "trials")
    assert sorted(frame["trial"]) == list(range(TRIALS))
    assert set(frame["state"]) == {"complete"}
    assert Store.open(url).find("it").row.state == "finished"


@pytest.mark.parametrize("point", DIRECTORY_POINTS)
def test_a_driver_stopped_anywhere_leaves_a_directory_as_the_next_one_left_it(directory, point):
    overtaken(directory, point)


@pytest.mark.parametrize("point", BUCKET_POINTS)
def test_a_driver_stopped_anywhere_leaves_a_bucket_as_the_next_one_left_it(bucket, point):
    overtaken(bucket, point)


@pytest.mark.parametrize("point", ["before-rename repeats/ 2", "after-append"])
def test_a_whole_group_of_processes_is_kept_out_of_a_directory(directory, point):
    overtaken(directory, point, group=True)


@pytest.mark.parametrize("point", ["before-put repeats/ 2", "before-put _lease.json 2"])
def test_a_whole_group_of_processes_is_kept_out_of_a_bucket(bucket, point):
    overtaken(bucket, point, group=True)


@pytest.mark.parametrize("point", ["before-put repeats/ 2", "before-put trials/ 3"])
def test_a_driver_is_overtaken_from_another_machine(bucket, tmp_path, point):
    overtaken(bucket, point, elsewhere=str(tmp_path / "elsewhere"))


def test_an_overtaker_that_is_stopped_is_overtaken_itself(bucket):
    """Of three drivers the last one counts, wherever the others go on."""
    url, held = bucket
    Store.open(url).create("it", run_row()).close()
    with driver(url, "before-put repeats/ 2") as first:
        first.wait_for_stop()
        wait_for_expiry(url)
        with driver(url, "before-put trials/ 2") as second:  # among its claims
            second.wait_for_stop()
            wait_for_expiry(url)
            with driver(url) as third:
                assert third.end()[0] == 0
            after_third = held()
            for late in (first, second):
                late.go_on()
                assert late.end()[0] == 1
    assert held() == after_third
    assert_every_key_once(url, set())


@pytest.mark.parametrize("point", ["after-append", "before-rename repeats/ 2"])
def test_a_driver_whose_store_is_moved_writes_nothing_more(tmp_path, point):
    """And whoever takes the moved run finds every row that was said to be safe."""
    here, there = tmp_path / "store", tmp_path / "moved"
    Store.open(here).create("it", run_row()).close()
    with driver(str(here), point) as first:
        first.wait_for_stop()
        here.rename(there)
        wait_for_expiry(str(there))
        with driver(str(there)) as second:
            code, safe, err = second.end()
        assert (code, err) == (0, "")
        after_second = contents(there)
        first.go_on()
        code, told, err = first.end()
    assert code == 1 and err.count("\n") == 1, err
    assert err.endswith("This driver stops and writes nothing more.\n")
    assert not here.exists()
    assert contents(there) == after_second
    assert_every_key_once(str(there), {*told, *safe})


@pytest.mark.parametrize("point", ["after-append", "between-tables repeats 2"])
def test_a_driver_whose_write_ahead_file_is_removed_says_so_and_writes_nothing_more(
    tmp_path, point
):
    store = tmp_path / "store"
    Store.open(store).create("it", run_row()).close()
    with driver(str(store), point) as first:
        first.wait_for_stop()
        (store / "runs/run=it/_wal.jsonl").unlink()
        left = contents(store)
        first.go_on()
        code, told, err = first.end()
    assert code == 1 and err.count("\n") == 1, err
    assert "_wal.jsonl was removed or changed" in err
    tables = {path for path in left if path.endswith(".parquet")}
    after = contents(store)
    assert {path: after[path] for path in tables} == {path: left[path] for path in tables}
    with driver(str(store)) as second:
        code, safe, err = second.end()
    assert (code, err) == (0, "")
    assert_every_key_once(str(store), set(safe))
