"""Runs are removed and renamed with all of their rows, and never under a driver at work."""

import platformdirs
import pytest
from pyarrow import fs
from support.stored_rows import contents, final_row, repeat_row, run_row, trial_row

from clar_tune.errors import StoreError
from clar_tune.store import Access, LeaseTimes, Store
from clar_tune.store.files import Files
from clar_tune.store.sql import run_query

COUNTED = "SELECT run, count(*) AS n FROM repeats GROUP BY ALL ORDER BY ALL"


@pytest.fixture(params=["directory", "elsewhere"])
def open_store(request, tmp_path, monkeypatch):
    """Opens a directory, or a filesystem that is none; the cache is this test's own."""
    cache = str(tmp_path / "cache")
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: cache)
    folder = tmp_path / "store"
    folder.mkdir()

    def opened(**access) -> Store:
        if request.param == "directory":
            return Store.open(folder, access=Access(**access))
        filesystem = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        access |= {"single_driver": True}
        times = LeaseTimes(settle=0.0)
        return Store(filesystem, "", "sub://it", times=times, access=Access(**access))

    return opened


def begun(store, name="first", rows=3):
    writer = store.create(name, run_row())
    writer.append([*map(repeat_row, range(rows)), trial_row(0), final_row(0)])
    return writer


def test_nothing_is_left_of_a_run_that_was_removed(open_store, tmp_path):
    store = open_store()
    begun(store, "other").close()
    begun(store).close(state="finished")
    store.remove("first")
    assert [run.name for run in store.runs()] == ["other"]
    assert run_query(store, COUNTED).to_pylist() == [{"run": "other", "n": 3}]
    files = {name for name, held in contents(tmp_path).items() if held is not None}
    assert not [name for name in files if "first" in name]
    begun(store).close()  # the name is free again
    assert len(store.table("repeats", "first")) == 3


def test_rows_that_were_not_flushed_are_removed_as_well(open_store, tmp_path):
    begun(open_store())
    open_store(take_over=True).remove("first")
    store = open_store()
    assert store.runs() == [] and run_query(store, COUNTED).to_pylist() == []
    assert not list(tmp_path.rglob("*.jsonl"))


def test_a_run_keeps_its_rows_under_its_new_name(open_store):
    store = open_store()
    begun(store).close(state="finished")
    before = store.table("repeats", "first")
    store.rename("first", "second")
    assert [(run.name, run.row.state) for run in store.runs()] == [("second", "finished")]
    assert store.table("repeats", "second") == before
    assert run_query(store, COUNTED).to_pylist() == [{"run": "second", "n": 3}]
    writer = store.reopen("second")  # it can be gone on with
    writer.append([repeat_row(3)])
    writer.close()
    assert len(store.table("repeats", "second")) == 4


def test_rows_that_were_not_flushed_come_along(open_store):
    former = begun(open_store())
    store = open_store(take_over=True)
    store.rename("first", "second")
    assert len(store.table("repeats", "second")) == 3 and len(store.trials("second")) == 1
    with pytest.raises(StoreError, match="This driver stops and writes nothing more"):
        former.append([repeat_row(3)])
    assert run_query(store, COUNTED).to_pylist() == [{"run": "second", "n": 3}]


def test_a_move_that_was_cut_off_is_finished_by_the_next(open_store, monkeypatch):
    store = open_store()
    begun(store).close(state="finished")
    move, moved = Files.move, []

    def fail_at_the_second(files, path, target):
        moved.append(path)
        if len(moved) == 2:
            raise StoreError("the disk is full")
        move(files, path, target)

    monkeypatch.setattr(Files, "move", fail_at_the_second)
    with pytest.raises(StoreError, match="the disk is full"):
        store.rename("first", "second")
    assert [run.name for run in store.runs()] == ["first"]
    monkeypatch.setattr(Files, "move", move)
    store.rename("first", "second")
    assert [run.name for run in store.runs()] == ["second"]
    assert len(store.table("repeats", "second")) == 3 and len(store.finals("second")) == 1


def test_a_run_under_a_driver_is_left_alone(open_store):
    store = open_store()
    writer = begun(store)
    for change in (
        lambda: store.remove("first"),
        lambda: store.rename("first", "second"),
        lambda: store.note("first", "x"),
    ):
        with pytest.raises(StoreError, match="run first has a driver at work: process "):
            change()
    writer.append([repeat_row(3)])
    writer.close()
    assert len(store.table("repeats", "first")) == 4


def test_a_name_that_is_taken_or_none_is_refused(open_store):
    store = open_store()
    for name in ("first", "second"):
        begun(store, name).close()
    with pytest.raises(StoreError, match="run 'second' exists in"):
        store.rename("first", "second")
    with pytest.raises(StoreError, match="'No Name' cannot name a run"):
        store.rename("first", "No Name")
    assert {run.name for run in store.runs()} == {"first", "second"}


def test_a_note_changes_nothing_else(open_store):
    store = open_store()
    begun(store).close(state="finished")
    before = store.find("first").row
    store.note("first", "wider layers")
    after = store.find("first").row
    assert (after.note, after.state, after.started) == (
        "wider layers",
        "finished",
        before.started,
    )
    assert len(store.table("repeats", "first")) == 3
