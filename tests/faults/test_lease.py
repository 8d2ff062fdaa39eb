"""Leases of real processes that are gone, or meet."""

import subprocess
import sys
import time

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
