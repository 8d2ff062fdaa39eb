"""Nothing that was stored is lost or doubled, whatever ends the driver."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pandas
import pytest
from support.killed_drivers import assert_sigkill_loses_and_doubles_nothing, keys
from support.stored_rows import contents, repeat_row, run_row, trial_row

from clar_tune.errors import StoreError
from clar_tune.store import Access, RunWriter, Store, journal, tables, writer
from clar_tune.store.parquet import encoded
from clar_tune.store.schema import plain, table_of
from clar_tune.store.tables import Parts


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store")


@pytest.fixture
def wal_file(tmp_path):
    return tmp_path / "store/runs/run=first/_wal.jsonl"


def abandon(run: RunWriter) -> None:
    """End a driver as a crash does, except that its process lives on."""
    run._lease.release(clean=False)


def test_sigkill_at_any_moment_loses_and_doubles_nothing(store):
    assert_sigkill_loses_and_doubles_nothing(store, 6, 0.3)


def test_a_torn_last_line_is_ignored_and_cut_off(store, wal_file):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    abandon(run)
    with wal_file.open("ab") as stream:
        stream.write(b'{"table": "repeats", "row": {"ke')
    assert keys(store) == [0]
    run = store.reopen("first")
    run.append([repeat_row(1)])
    assert keys(store) == [0, 1]
    run.close()
    assert keys(store) == [0, 1]


def test_a_broken_line_within_is_named_not_skipped(store, wal_file):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    with wal_file.open("ab") as stream:
        stream.write(b'{"table": "repeats", oops}\n')
    with pytest.raises(StoreError, match=r"_wal\.jsonl, line 3"):
        store.table("repeats", "first")
    abandon(run)


def test_a_line_of_no_table_stops_the_recovery(store, wal_file):
    run = store.create("first", run_row())
    abandon(run)
    with wal_file.open("ab") as stream:
        stream.write(b"oops\n")
    with pytest.raises(StoreError, match=r"_wal\.jsonl, line 2"):
        store.reopen("first")
    assert wal_file.read_bytes().endswith(b"oops\n")


def test_a_crash_between_flush_and_emptying_doubles_nothing(store, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0), trial_row(0), repeat_row(1)])
    monkeypatch.setattr(run._wal, "start", _crash)
    with pytest.raises(KeyboardInterrupt):
        run.flush()
    assert keys(store) == [0, 1] and len(store.trials("first")) == 1
    abandon(run)
    store.reopen("first").close()
    assert keys(store) == [0, 1] and len(store.trials("first")) == 1
    assert pandas.read_parquet(f"{store.url}/repeats")["repeat"].tolist() == [0, 1]


def test_a_crash_between_two_parts_of_a_flush_loses_nothing(store, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_PER_PART", 3)
    run = store.create("first", run_row())
    run.append([repeat_row(number) for number in range(5)])
    real = Parts.write

    def only_first(parts, number, rows):
        if number:
            raise KeyboardInterrupt
        real(parts, number, rows)

    monkeypatch.setattr(Parts, "write", only_first)
    with pytest.raises(KeyboardInterrupt):
        run.flush()
    assert keys(store) == list(range(5))
    monkeypatch.setattr(Parts, "write", real)
    abandon(run)
    store.reopen("first").close()
    assert keys(store) == list(range(5))


def test_a_full_disk_refuses_the_row_and_harms_nothing(store, wal_file, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    size = wal_file.stat().st_size
    write = os.write

    def half(handle, data):
        if len(data) < 200:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(handle, data[:-100])

    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "write", half)
        with pytest.raises(StoreError, match=r"_wal\.jsonl cannot be written: No space left"):
            run.append([repeat_row(1)])
    assert wal_file.stat().st_size == size and keys(store) == [0]
    run.append([repeat_row(2)])
    run.close()
    assert keys(store) == [0, 2]
    assert store.table("repeats", "first")["seq"].to_pylist() == [0, 1]


def test_a_store_that_cannot_be_flushed_keeps_rows_and_is_tried_again(store, monkeypatch):
    monkeypatch.setattr(writer, "LOCAL_PERIOD", 0.0)
    monkeypatch.setattr(writer, "FIRST_RETRY", 0.01)
    run = store.create("first", run_row())
    with monkeypatch.context() as patch:
        patch.setattr(Parts, "write", _refuse)
        for number in range(3):
            run.append([repeat_row(number)])
            run.tick()
        with pytest.raises(StoreError, match="refused"):
            run.flush()
        assert keys(store) == [0, 1, 2]
    time.sleep(0.1)
    run.tick()
    assert run._pending == 0 and keys(store) == [0, 1, 2]
    run.close()


def test_a_store_that_refuses_for_long_stops_the_run(store, monkeypatch):
    monkeypatch.setattr(writer, "LOCAL_PERIOD", 0.0)
    monkeypatch.setattr(writer, "PATIENCE", 0.0)
    run = store.create("first", run_row())
    monkeypatch.setattr(Parts, "write", _refuse)
    run.append([repeat_row(0)])
    with pytest.raises(StoreError, match="refused"):
        run.append([repeat_row(1)])
    assert keys(store) == [0]
    abandon(run)


def test_a_close_that_fails_leaves_a_run_that_can_be_reopened(store, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    with monkeypatch.context() as patch:
        patch.setattr(Parts, "write", _refuse)
        with pytest.raises(StoreError, match="refused"):
            run.close(state="finished")
    run = store.reopen("first")
    assert run.row.state == "finished" and keys(store) == [0]
    run.close()


def removed(wal_file):
    wal_file.unlink()


def replaced(wal_file):
    wal_file.rename(wal_file.with_name("taken-away"))
    wal_file.write_text("{}\n")


def emptied(wal_file):
    os.truncate(wal_file, 0)


@pytest.mark.parametrize("harm", [removed, replaced, emptied])
def test_rows_whose_write_ahead_file_is_gone_are_not_forgotten_in_silence(store, wal_file, harm):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run.flush()
    run.append([repeat_row(1)])
    harm(wal_file)
    before = _contents(store)
    for deed in (run.flush, run.tick, run.close, lambda: run.append([repeat_row(2)])):
        with pytest.raises(StoreError, match=r"_wal\.jsonl was removed or changed"):
            deed()
    assert _contents(store) == before


def test_a_store_that_is_moved_takes_all_its_rows_along(store, tmp_path):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    run.flush()
    run.append([repeat_row(1)])
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    for deed in (lambda: run.append([repeat_row(2)]), run.flush, run.close):
        with pytest.raises(StoreError, match="the store was moved or removed"):
            deed()
    assert not (tmp_path / "store").exists()
    again = Store.open(tmp_path / "elsewhere", access=Access(take_over=True)).reopen("first")
    again.append([repeat_row(2)])
    again.close()
    assert keys(Store.open(tmp_path / "elsewhere")) == [0, 1, 2]


def test_a_file_that_another_machine_has_replaced_on_a_network_is_one_clear_line(
    store, monkeypatch
):
    run = store.create("first", run_row())

    def stale(*_):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    for deed in (run.tick, run.close, lambda: run.append([repeat_row(0)])):
        with (
            monkeypatch.context() as patch,
            pytest.raises(StoreError, match=r"_wal\.jsonl was removed or changed"),
        ):
            patch.setattr(journal.os, "fstat", stale)
            deed()


def test_a_folder_that_cannot_be_synced_loses_nothing(store, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])

    def broken(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(journal, "sync_folder", broken)
        with pytest.raises(StoreError, match=r"_wal\.jsonl cannot be written: Input/output"):
            run.flush()
    run.append([repeat_row(1)])
    run.close()
    assert keys(store) == [0, 1]


def test_a_late_end_leaves_the_write_ahead_file_of_another_driver(store, wal_file, monkeypatch):
    """A driver may be overtaken between its last flush and the removal of its file."""
    run = store.create("first", run_row())
    flush = run.flush

    def flush_and_be_overtaken():
        flush()
        wal_file.unlink()
        wal_file.write_text("of another\n")

    monkeypatch.setattr(run, "flush", flush_and_be_overtaken)
    run.close()
    assert wal_file.read_text() == "of another\n"


def test_an_unwritable_folder_gives_one_clear_line(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store/runs").write_text("a file where a folder should be")
    with pytest.raises(StoreError, match="cannot be written"):
        Store.open(tmp_path / "store").create("first", run_row())


def test_temporary_files_of_a_failed_write_are_removed(store, tmp_path, monkeypatch):
    run = store.create("first", run_row())
    run.append([repeat_row(0)])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _full)
        with pytest.raises(StoreError, match="No space left"):
            run.flush()
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    run.close()
    assert keys(store) == [0]


def _contents(store):
    """What the files of a store hold; a heartbeat of the lease changes nothing."""
    found = contents(Path(store.url))
    return {path: held for path, held in found.items() if not path.endswith("_lease.json")}


def _crash(*_, **__):
    raise KeyboardInterrupt


def _refuse(*_, **__):
    raise StoreError("refused.")


def _full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


READS_AND_ENDS = """
import sys
from pathlib import Path
from clar_tune.store.parquet import decoded, numbered

decoded(Path(sys.argv[1]).read_bytes(), numbered("repeats", "it", 0), "it")
sys.exit(1)
"""


def test_a_driver_that_ends_just_after_it_has_read_a_part_is_not_aborted(tmp_path):
    """One in twelve was, where Arrow's threads read memory of Python's."""
    file = tmp_path / "part.parquet"
    file.write_bytes(encoded(table_of("repeats", [plain("repeats", repeat_row(0))])))
    command = [sys.executable, "-c", READS_AND_ENDS, str(file)]
    codes = {subprocess.run(command, check=False).returncode for _ in range(40)}
    assert codes == {1}
