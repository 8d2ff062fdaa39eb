"""Leases of real processes that are gone, or meet."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import fs
from support.leases import left_behind
from support.stored_rows import run_row

from clar_tune.errors import StoreError
from clar_tune.store import Store, processes
from clar_tune.store.files import Files
from clar_tune.store.lease import Lease

CONTENDER = """
import sys
from clar_tune.errors import StoreError
from clar_tune.store import Store

store = Store.open(sys.argv[1])
print("ready", flush=True)
input()
try:
    store.reopen("first")
except StoreError as error:
    print(error, flush=True)
else:
    print("won", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def files(tmp_path):
    return Files(fs.LocalFileSystem(), str(tmp_path), str(tmp_path))


def test_a_driver_that_is_gone_from_this_host_is_replaced_at_once(files):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    left_behind(files, pid=process.pid)
    Lease(files, "first")


def test_a_driver_that_nobody_has_waited_for_is_gone(files):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    left_behind(files, pid=process.pid, born=processes.birth(process.pid))
    with pytest.raises(StoreError, match="has a driver at work"):
        Lease(files, "first")
    process.kill()
    deadline = time.time() + 5
    while processes.birth(process.pid) != "ended" and time.time() < deadline:
        time.sleep(0.01)
    Lease(files, "first")
    process.communicate()


def test_of_processes_that_reopen_at_once_exactly_one_wins(tmp_path):
    Store.open(tmp_path).create("first", run_row()).close()
    command = [sys.executable, "-c", CONTENDER, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    contenders = [subprocess.Popen(command, **pipes) for _ in range(4)]
    assert [process.stdout.readline() for process in contenders] == ["ready\n"] * 4
    for process in contenders:
        process.stdin.write("go\n")
        process.stdin.flush()
    # The winner lives until all have tried, as a driver that has ended may be followed.
    said = sorted(process.stdout.readline().strip() for process in contenders)
    for process in contenders:
        process.communicate()
    assert said[-1] == "won"
    assert all("has a driver at work: process" in line for line in said[:-1])


ELSEWHERE = """
mount --bind "$0" /proc/sys/kernel/random/boot_id && hostname elsewhere && exec "$@"
"""
"""Another machine, as far as a process can tell: name, start and process numbers are its own."""

OPENER = """
import sys, time
from clar_tune.errors import StoreError
from clar_tune.store import Access, Store

store = Store.open(sys.argv[1], access=Access(say=lambda text: print(text, flush=True)))
try:
    run = store.reopen("first")
except StoreError as error:
    sys.exit(str(error))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Starts a process on another machine."""
    monkeypatch.setenv("CLAR_TUNE_LEASE", "0.2/1.5")
    boot = tmp_path / "boot-id"
    boot.write_text("another-start\n")
    space = ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "sh", "-c"]
    if subprocess.run([*space, ELSEWHERE, boot, "true"], capture_output=True).returncode:
        pytest.skip("only root can make such a machine")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    def start(*words) -> subprocess.Popen:
        command = [*space, ELSEWHERE, boot, sys.executable, "-c", OPENER, *words]
        return subprocess.Popen(command, **pipes, text=True)

    return start


def in_a_process(store: Path) -> subprocess.Popen:
    """A driver on this machine, at work."""
    command = [sys.executable, "-c", OPENER, str(store)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    return process


def dated(store: Path, days: float) -> None:
    """Let a lease be of another day; a driver that is gone does not date it again."""
    path = store / "runs/run=first/_lease.json"
    held = json.loads(path.read_text())
    path.write_text(json.dumps({**held, "heartbeat": held["heartbeat"] + 86400 * days}))


@pytest.mark.parametrize("days", [-1, 1])
def test_a_driver_that_died_elsewhere_is_followed_whatever_its_clock_said(
    tmp_path, elsewhere, days
):
    Store.open(tmp_path / "store").create("first", run_row()).close()
    first = in_a_process(tmp_path / "store")
    first.kill()
    first.communicate()
    dated(tmp_path / "store", days)
    second = elsewhere(tmp_path / "store")
    said = second.stdout.readline(), second.stdout.readline()
    second.communicate()
    assert f"was left to process {first.pid} on {socket.gethostname()}: waiting up to" in said[0]
    assert said[1] == "open\n"


def test_a_driver_at_work_is_refused_elsewhere_whatever_its_clock_says(tmp_path, elsewhere):
    Store.open(tmp_path / "store").create("first", run_row()).close()
    first = in_a_process(tmp_path / "store")
    dated(tmp_path / "store", -1)  # as if the clock of the other machine were ahead
    out, err = elsewhere(tmp_path / "store").communicate(timeout=60)
    assert "waiting up to" in out and "open" not in out
    assert f"has a driver at work: process {first.pid} on {socket.gethostname()}" in err
    assert first.poll() is None
    first.communicate()
