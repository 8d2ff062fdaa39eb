"""Whole runs on a local Ray, as a user sees them."""

import ipaddress
import json
import re
import socket

import psutil
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from commands import SPACE, Place, assert_exact, comparable, copy_of, finished

pytestmark = pytest.mark.slow


@pytest.fixture
def one(tmp_path_factory):
    return finished(tmp_path_factory)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def own(table, run):
    return next((table / f"run={run}").glob("*.parquet"))


def test_a_run_has_exactly_the_trials_and_finals_asked_for(one):
    assert_exact(one, "one", trials=9, repeats=3, finals=3)
    assert one.store.find("one").row.state == "finished"
    states = {row["state"] for row in one.trials("one")}
    assert states == {"complete", "pruned"}


def test_only_finals_have_test_scores(one):
    names = {
        table: pq.read_schema(own(one.folder / "store" / table, "one")).names
        for table in ("trials", "repeats", "finals", "runs")
    }
    assert [table for table, columns in names.items() if "test_score" in columns] == ["finals"]
    assert not (one.folder / "store" / "runs" / "run=one" / "_wal.jsonl").exists()
    assert not (one.folder / "store" / "runs" / "run=one" / "_lease.json").exists()


def test_the_comparison_goes_to_stdout_and_progress_to_stderr(one):
    out, err = ((one.folder / f"one.{name}").read_text() for name in ("out", "err"))
    assert re.search(r"csbm-homophily +gcn\+clar +\d\d\.\d\d ± ", out)
    assert "studies confirmed" not in out
    assert err.startswith("run one in store, log in ")
    lines = err.splitlines()[1:]
    assert lines and all("studies confirmed" in line for line in lines)
    assert "2/2 studies confirmed, 18/18 trials" in lines[-1]


def test_the_noise_of_libraries_is_in_the_log(one):
    assert "studies confirmed" not in one.log("one")
    assert one.log("one").strip()


def test_a_second_run_is_the_same_and_lives_beside_the_first(one):
    place, words = one, ("--name", "two", "--max-concurrent", "1", "--json", "--quiet")
    with place.started("run", "--space", "space.yaml", *words) as going:
        going.wait_for(going.workers, "a worker")
        going.wait_for(lambda: place.repeats("two"), "a repeat")
        listening = [connection.laddr for connection in listening_sockets(going.tree())]
        refused = Place.run(place, "resume", "two")
        shown = place.shown("two")
        done = going.end()
    assert listening
    assert [a for a in listening if not ipaddress.ip_address(a.ip).is_loopback] == []

    assert refused.code == 1
    assert refused.err.startswith("clar-tune: run two has a driver at work: process ")
    assert socket.gethostname() in refused.err
    assert len(refused.err.splitlines()) == 1
    assert shown["state"] == "running"
    assert done.code == 0


def listening_sockets(processes):
    for process in processes:
        try:
            for connection in process.net_connections("inet"):
                if connection.status == psutil.CONN_LISTEN:
                    yield connection
        except psutil.NoSuchProcess:
            continue
