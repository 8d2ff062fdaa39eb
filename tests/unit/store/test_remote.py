"""A store that is not a directory: rows wait on this machine until the store takes them."""

import time

import platformdirs
import pytest
from pyarrow import fs
from support.stored_rows import repeat_row, run_row, trial_row

from clar_tune.errors import StoreError
from clar_tune.store import Access, LeaseTimes, Store, fence, holder, writer
from clar_tune.store.files import Files
from clar_tune.store.sql import run_query

AT_ONCE = LeaseTimes(settle=0.0)
ALONE = Access(single_driver=True)
OVER = Access(single_driver=True, take_over=True)
"""Whoever comes with this takes every driver for gone."""


@pytest.fixture(autouse=True)
def on_first_machine(tmp_path, monkeypatch):
    here(monkeypatch, tmp_path, "first-machine")


@pytest.fixture(params=["subtree", "mock"])
def store(request, tmp_path):
    """Filesystems that offer neither renames nor locks, as far as the store knows."""
    if request.param == "mock":
        return Store(
            fs._MockFileSystem(),
            "bucket/folder",
            "mock://bucket/folder",
            times=AT_ONCE,
            access=ALONE,
        )
    (tmp_path / "bucket").mkdir()
    filesystem = fs.SubTreeFileSystem(str(tmp_path / "bucket"), fs.LocalFileSystem())
    return Store(filesystem, "", "sub://bucket", times=AT_ONCE, access=ALONE)


def here(monkeypatch, tmp_path, machine: str) -> None:
    """Be on a machine: it has its own name and its own cache."""
    folder = tmp_path / machine
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(folder))
    monkeypatch.setattr(holder.socket, "gethostname", lambda: machine)


def elsewhere(store: Store) -> Store:
    """The same store as a machine opens it that has waited in vain for a heartbeat."""
    files = store._files
    return Store(files.filesystem, files.root, store.url, times=AT_ONCE, access=OVER)


def keys(store: Store) -> list[int]:
    return [int(key, 16) for key in store.table("repeats", "first", ["key"])["key"].to_pylist()]


def test_rows_are_readable_before_and_after_the_flush(store, tmp_path):
    run = store.create("first", run_row())
    run.append([repeat_row(0), trial_row(0)])
    assert keys(store) == [0] and len(store.trials("first")) == 1
    assert list((tmp_path / "first-machine").rglob("first.jsonl"))
    run.close(state="finished")
    assert keys(store) == [0] and store.find("latest").row.state == "finished"
    assert not list((tmp_path / "first-machine").rglob("first.jsonl"))


def test_queries_read_files_and_what_is_ahead_of_them(store):
    run = store.create("first", run_row())
    run.append([repeat_row(0), repeat_row(1)])
    run.close()
    run = store.reopen("first")
    run.append([repeat_row(2)])
    other = store.create("second", run_row())
    other.append([repeat_row(3)])
    other.close()
    answer = run_query(store, "SELECT run, count(*) AS n FROM repeats GROUP BY ALL ORDER BY run")
    assert answer.to_pylist() == [{"run": "first", "n": 3}, {"run": "second", "n": 1}]
    run.close()


def test_rows_are_flushed_in_time(store, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    assert run._pending == 1 and writer.REMOTE_PERIOD < 30
    monkeypatch.setattr(writer, "REMOTE_PERIOD", 0.0)
    run.tick()
    assert run._pending == 0
    run.close()


def test_a_second_driver_is_refused(store):
    run = store.create("first", run_row())
    with pytest.raises(StoreError, match="process .* on first-machine"):
        store.reopen("first")
    run.close()


def test_refused_writes_lose_nothing_and_do_not_stop_the_run(store, monkeypatch):
    monkeypatch.setattr(writer, "REMOTE_PERIOD", 0.0)
    monkeypatch.setattr(writer, "FIRST_RETRY", 0.01)
    run = store.create("first", run_row())

    def refuse(*_, **__):
        raise StoreError("slow down.")

    with monkeypatch.context() as patch:
        patch.setattr(Files, "write", refuse)
        for number in range(4):
            run.append([repeat_row(number)])
            run.tick()
        run.update(state="paused")
        assert keys(store) == [0, 1, 2, 3] and store.find("first").row.state == "paused"
    time.sleep(0.3)
    run.tick()
    assert run._pending == 0
    run.close()
    assert keys(store) == [0, 1, 2, 3] and store.find("first").row.state == "paused"


def test_the_same_machine_recovers_what_was_not_flushed(store):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run._lease.release(clean=False)
    again = store.reopen("first")
    assert again.lost == 0
    again.close()
    assert keys(store) == [0]


def test_recovery_survives_a_crash_of_its_own(store, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run._lease.release(clean=False)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writer.RunWriter, "_fold", crash)
        with pytest.raises(KeyboardInterrupt):
            store.reopen("first")
    store.reopen("first").close()
    assert keys(store) == [0]


def test_no_run_says_finished_before_its_rows_have_arrived(store, tmp_path, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    write = Files.write

    def end_at_the_rows(files, path, *given, **named):
        if path.startswith("repeats"):
            raise KeyboardInterrupt
        write(files, path, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Files, "write", end_at_the_rows)
        with pytest.raises(KeyboardInterrupt):
            run.close(state="finished")
    here(monkeypatch, tmp_path, "second-machine")
    assert store.find("first").row.state == "running"


def test_another_machine_says_how_much_it_lacks_and_its_rows_count(store, tmp_path, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run.flush()
    run.append([repeat_row(1), repeat_row(2), repeat_row(3)])
    run._lease.renew(run._seq)
    here(monkeypatch, tmp_path, "second-machine")
    other = elsewhere(store).reopen("first")
    assert other.lost == 3
    other.append([repeat_row(11)])
    assert keys(store) == [0, 11]
    other.flush()

    here(monkeypatch, tmp_path, "first-machine")
    assert keys(store) == [0, 11], "rows that were trained anew elsewhere are not mixed in"
    with pytest.raises(StoreError, match="another driver took over"):
        run.flush()
    with pytest.raises(StoreError, match="another driver took over"):
        run.append([repeat_row(4)])
    other.close()
    assert keys(store) == [0, 11]
    store.reopen("first").close()
    assert keys(store) == [0, 11]


def test_a_driver_that_wakes_after_another_machine_has_finished_doubles_nothing(
    store, tmp_path, monkeypatch
):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run.flush()
    run.append([repeat_row(1)])
    with monkeypatch.context() as patch:
        here(patch, tmp_path, "second-machine")
        other = elsewhere(store).reopen("first")
        other.append([repeat_row(1), repeat_row(2)])
        other.close(state="finished")
    for deed in (
        lambda: run.update(state="paused"),
        run.flush,
        lambda: run.append([repeat_row(3)]),
        run.close,
    ):
        with pytest.raises(StoreError, match="another driver took over and has ended"):
            deed()
    assert keys(store) == [0, 1, 2]
    assert store.find("first").row.state == "finished" and not store._files.under("runs")[1:]


def test_a_claim_that_is_gone_before_it_has_settled_is_lost(store, monkeypatch):
    path = fence.lease_path("first")
    with monkeypatch.context() as patch:
        patch.setattr(fence.time, "sleep", lambda _: store._files.delete(path))
        with pytest.raises(StoreError, match="its lease is gone"):
            store.create("first", run_row())
    assert store._files.under("") == []


def test_a_damaged_object_is_named_by_its_address(store):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run.close()
    path = store._files.full("repeats/run=first/part-00000.parquet")
    with store._files.filesystem.open_output_stream(path) as stream:
        stream.write(b"PAR1 and no more")
    with pytest.raises(StoreError, match=r"://bucket.*part-00000\.parquet is damaged"):
        store.table("repeats", "first")
    assert run_query(store, "SELECT count(*) AS n FROM repeats").to_pylist() == [{"n": 0}]
    assert len(store.damaged()) == 1


def test_a_store_without_conditional_writes_is_refused(store):
    careful = Store(store._files.filesystem, store._files.root, store.url)
    for deed in (
        lambda: careful.check_new("first"),
        lambda: careful.check_free("first"),
        lambda: careful.create("first", run_row()),
    ):
        with pytest.raises(StoreError, match="no conditional writes.*--single-driver"):
            deed()
    assert store._files.under("") == []
