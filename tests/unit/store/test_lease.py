"""A run has one driver at a time."""

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import fs
from support.leases import left_behind
from support.stored_rows import contents, final_row, repeat_row, run_row, trial_row

from clar_tune.errors import StoreError
from clar_tune.store import (
    Access,
    LeaseTimes,
    RunWriter,
    Store,
    journal,
    processes,
    tables,
    writer,
)
from clar_tune.store.files import Files, sync_folder
from clar_tune.store.holder import written
from clar_tune.store.lease import Lease, read_lease

OVER = Access(take_over=True)
"""Whoever comes with this takes every driver for gone."""
SHORT = LeaseTimes(period=0.05, expiry=0.4)


@pytest.fixture
def files(tmp_path):
    return Files(fs.LocalFileSystem(), str(tmp_path), str(tmp_path))


def rewrite(files, **changes) -> None:
    """Change what the lease says."""
    holder = replace(read_lease(files, "first"), **changes)
    Path(files.root, "runs/run=first/_lease.json").write_bytes(written(holder))


def beat_until(files, ended: threading.Event) -> None:
    """Heartbeats of a driver elsewhere."""
    while not ended.wait(SHORT.period):
        rewrite(files, clock=time.monotonic())


def test_a_free_run_is_leased_and_a_second_driver_refused(files):
    first = Lease(files, "first")
    with pytest.raises(StoreError, match=rf"process {os.getpid()} on .*, last heard of 0 s ago"):
        Lease(files, "first")
    first.release(clean=True)
    Lease(files, "first").release(clean=True)
    assert read_lease(files, "first") is None


def test_a_lease_of_a_living_driver_elsewhere_is_refused_with_host_and_age(files):
    left_behind(files, host="elsewhere", boot="another")
    ended = threading.Event()
    beating = threading.Thread(target=beat_until, args=(files, ended))
    beating.start()
    try:
        with pytest.raises(StoreError, match="on elsewhere, last heard of 0 s ago"):
            Lease(files, "first", times=SHORT)
    finally:
        ended.set()
        beating.join()


def test_an_expired_lease_is_taken_over(files):
    left_behind(files, host="elsewhere", boot="another")
    said = []
    taken = Lease(files, "first", times=SHORT, access=Access(say=said.append))
    assert taken.previous.host == "elsewhere"
    assert len(said) == 1 and said[0].endswith("--take-over if you know that it is dead")
    assert "waiting up to 0 s" in said[0] and " on elsewhere" in said[0]


@pytest.mark.parametrize("hours", [-24, 24])
def test_the_clock_on_the_wall_decides_nothing(files, hours):
    """A lease of tomorrow ends as soon as one of yesterday, and lives as long."""
    left_behind(files, heartbeat=time.time() + 3600 * hours)
    with pytest.raises(StoreError, match="has a driver at work"):
        Lease(files, "first")
    left_behind_elsewhere = {"host": "elsewhere", "boot": "another"}
    rewrite(files, heartbeat=time.time() + 3600 * hours, **left_behind_elsewhere)
    began = time.monotonic()
    Lease(files, "first", times=SHORT)
    assert time.monotonic() - began > SHORT.expiry


def test_a_driver_that_was_waited_for_in_vain_is_not_waited_for_again(files, tmp_path):
    left_behind(files, host="elsewhere", boot="another")
    said = []
    store = Store.open(tmp_path, SHORT, Access(say=said.append))
    store.check_free("first")
    store._lease("first")
    assert len(said) == 1


def test_who_knows_that_a_driver_is_dead_does_not_wait(files):
    left_behind(files, host="elsewhere", boot="another")
    taken = Lease(files, "first", access=OVER)
    assert taken.previous.epoch == 1 and read_lease(files, "first").epoch == 2


def test_times_of_leases_come_from_the_environment(files, tmp_path, monkeypatch):
    left_behind(files, clock=processes.clock() - 42)
    with pytest.raises(StoreError, match="last heard of 42 s ago"):
        Store.open(tmp_path).check_free("first")
    monkeypatch.setenv("CLAR_TUNE_LEASE", "2.5/40")
    assert LeaseTimes.of_environment() == LeaseTimes(period=2.5, expiry=40.0)
    Store.open(tmp_path).check_free("first")
    with pytest.raises(StoreError, match="has a driver at work"):
        Store.open(tmp_path, LeaseTimes()).check_free("first")


@pytest.mark.parametrize("text", ["10", "10/60/2", "60/10", "10/10", "0/60", "10/inf", "10s/60s"])
def test_times_of_leases_that_make_no_sense_are_refused(tmp_path, monkeypatch, text):
    monkeypatch.setenv("CLAR_TUNE_LEASE", text)
    with pytest.raises(StoreError, match=f"CLAR_TUNE_LEASE={text}: give seconds .* such as 10/60"):
        Store.open(tmp_path)


def test_a_process_number_that_is_used_again_is_no_driver(files):
    left_behind(files, pid=os.getppid(), born=f"{processes.namespace()} 1")
    Lease(files, "first")


def test_a_process_of_another_container_counts_as_alive_until_it_expires(files):
    left_behind(files, pid=2**22 + 1, born="pid:[1] 1")
    with pytest.raises(StoreError, match="has a driver at work"):
        Lease(files, "first")


def test_a_broken_lease_is_taken_over(files, tmp_path):
    left_behind(files)
    (tmp_path / "runs/run=first/_lease.json").write_text("{")
    Lease(files, "first")


def test_heartbeats_keep_a_lease_young_and_tell_the_last_row(files):
    held = Lease(files, "first", times=LeaseTimes(period=0.02))
    started = read_lease(files, "first").heartbeat
    held.keep(lambda: 17)
    deadline = time.time() + 5
    while read_lease(files, "first").seq != 17 and time.time() < deadline:
        time.sleep(0.02)
    now = read_lease(files, "first")
    assert now.seq == 17 and now.heartbeat > started
    held.release(clean=True)
    time.sleep(0.1)
    assert read_lease(files, "first") is None, "no heartbeat after the end"


def test_a_driver_that_lost_its_lease_is_told_and_writes_nothing(tmp_path):
    store = Store.open(tmp_path)
    slow = store.create("first", run_row())
    slow.append([repeat_row(0)])
    other = Store.open(tmp_path, access=OVER).reopen("first")
    with pytest.raises(StoreError, match="another driver took over"):
        slow.append([repeat_row(1)])  # before any heartbeat has told it
    with pytest.raises(StoreError, match="another driver took over"):
        slow.update(state="paused")
    slow._lease.renew(0)
    for deed in (slow.tick, slow.flush, slow.close, lambda: slow.append([repeat_row(1)])):
        with pytest.raises(StoreError, match=f"another driver took over .process {os.getpid()}"):
            deed()
    other.append([repeat_row(2)])
    other.close()
    assert [int(key, 16) for key in store.table("repeats", "first")["key"].to_pylist()] == [0, 2]
    assert store.find("first").row.state == "running"


@pytest.mark.parametrize("clean", [True, False])
def test_the_end_of_a_driver_that_lost_its_lease_leaves_the_other_alone(files, clean):
    lost = Lease(files, "first")
    Lease(files, "first", access=OVER)
    others = read_lease(files, "first")
    with pytest.raises(StoreError, match="another driver took over"):
        lost.release(clean=clean)
    assert read_lease(files, "first") == others


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("renewed", [True, False])
def test_a_missing_lease_is_a_lost_lease_and_is_not_made_anew(files, tmp_path, renewed, clean):
    held = Lease(files, "first")
    (tmp_path / "runs/run=first/_lease.json").unlink()
    if renewed:
        held.renew(0)
        with pytest.raises(StoreError, match="first: its lease is gone: another driver took over"):
            held.check()
        held.renew(1)
    with pytest.raises(StoreError, match="its lease is gone"):
        held.release(clean=clean)
    assert read_lease(files, "first") is None


def test_a_lost_lease_stays_lost_though_its_file_is_there(files, tmp_path):
    held, file = Lease(files, "first"), tmp_path / "runs/run=first/_lease.json"
    before = file.read_bytes()
    held.lose("some reason")
    held.renew(3)
    with pytest.raises(StoreError, match="some reason"):
        held.release(clean=True)
    with pytest.raises(StoreError, match="run first: some reason. This driver stops"):
        held.check()
    assert file.read_bytes() == before


def test_a_lease_that_could_not_be_written_whole_is_written_again(files, tmp_path):
    held = Lease(files, "first")
    # Some filesystems empty a file before they write it, and may fail in between.
    (tmp_path / "runs/run=first/_lease.json").write_bytes(b"")
    held.renew(5)
    held.check()
    assert read_lease(files, "first").seq == 5


def test_a_lease_whose_folder_is_gone_is_lost_and_no_folder_is_made(files, tmp_path):
    held = Lease(files, "first")
    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    held.renew(0)
    with pytest.raises(StoreError, match="or the store was moved or removed"):
        held.check()
    with pytest.raises(StoreError, match="or the store was moved or removed"):
        held.release(clean=False)
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


def overtake(store: Store) -> None:
    """Another driver takes the run over and finishes it."""
    other = store.reopen("first")
    other.append([trial_row(0, repeats=2), repeat_row(7), final_row(7)])
    other.close(state="finished")


def overtaken_after(owner, name: str, folder: Path, monkeypatch) -> dict[str, bytes | None]:
    """A driver sleeps at the end of a function: what the store holds when it wakes."""
    real, held = getattr(owner, name), {}

    def once(*given):
        monkeypatch.setattr(owner, name, real)
        answer = real(*given)
        overtake(Store.open(folder, access=OVER))
        held.update(contents(folder))
        return answer

    monkeypatch.setattr(owner, name, once)
    return held


def test_a_driver_that_wakes_after_another_has_finished_writes_nothing(tmp_path):
    store = Store.open(tmp_path, access=OVER)
    slow = store.create("first", run_row())
    slow.append([repeat_row(0), repeat_row(1)])
    overtake(store)
    before = contents(tmp_path)
    for deed in (
        slow.flush,
        slow.tick,
        lambda: slow.append([repeat_row(3)]),
        lambda: slow.update(state="paused"),
        lambda: slow.close(state="interrupted"),
    ):
        with pytest.raises(StoreError, match="another driver took over"):
            deed()
    assert contents(tmp_path) == before


@pytest.mark.parametrize(("owner", "name"), [(writer, "read_wal"), (RunWriter, "_fold")])
def test_a_driver_that_is_overtaken_while_it_opens_a_run_writes_nothing(
    tmp_path, monkeypatch, owner, name
):
    store = Store.open(tmp_path, access=OVER)
    store.create("first", run_row()).append([trial_row(0), repeat_row(0), final_row(0)])
    held = overtaken_after(owner, name, tmp_path, monkeypatch)
    with pytest.raises(StoreError, match="its lease is gone: another driver took over"):
        store.reopen("first")
    assert held and contents(tmp_path) == held


@pytest.mark.parametrize(("owner", "name"), [(tables.AppendedTable, "add"), (RunWriter, "_fold")])
def test_a_driver_that_is_overtaken_while_it_flushes_writes_nothing_more(
    tmp_path, monkeypatch, owner, name
):
    run = Store.open(tmp_path, access=OVER).create("first", run_row())
    run.append([trial_row(0), repeat_row(0), final_row(0)])
    held = overtaken_after(owner, name, tmp_path, monkeypatch)
    with pytest.raises(StoreError, match="its lease is gone: another driver took over"):
        run.flush()
    assert held and contents(tmp_path) == held


def test_the_file_of_a_driver_that_took_over_is_not_taken_for_ones_own(tmp_path, monkeypatch):
    store, others = Store.open(tmp_path, access=OVER), []
    run = store.create("first", run_row())
    run.append([repeat_row(0)])

    def overtaken(folder):
        """A driver sleeps when its new file has its name, and before it goes on with it."""
        monkeypatch.setattr(journal, "sync_folder", sync_folder)
        others.append(store.reopen("first"))

    monkeypatch.setattr(journal, "sync_folder", overtaken)
    run.flush()
    with pytest.raises(StoreError, match="another driver took over"):
        run.append([repeat_row(1)])
    others[0].append([repeat_row(2)])
    others[0].close()
    assert [int(key, 16) for key in store.table("repeats", "first")["key"].to_pylist()] == [0, 2]
