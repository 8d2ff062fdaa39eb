"""Stores of older versions, in which two drivers have written: each row is read once."""

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.stored_rows import final_row, repeat_row, run_row, trial_row

from clar_tune.store import Store, tables
from clar_tune.store.parquet import encoded
from clar_tune.store.sql import run_query


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A finished run of six repeats in two parts."""
    monkeypatch.setattr(tables, "ROWS_PER_PART", 3)
    store = Store.open(tmp_path)
    run = store.create("first", run_row())
    run.append([*(repeat_row(number) for number in range(6)), final_row(0), trial_row(0)])
    run.close(state="finished")
    return store


def twice_in_a_part(folder):
    """As by a retry after a lost answer."""
    path = folder / "repeats/run=first/part-00001.parquet"
    rows = pq.read_table(path, partitioning=None)
    path.write_bytes(encoded(pa.concat_tables([rows, rows.slice(1)]).replace_schema_metadata()))


def in_two_parts(folder):
    """As by a driver that came late and began the next part."""
    rows = pq.read_table(folder / "repeats/run=first/part-00000.parquet", partitioning=None)
    late = folder / "repeats/run=first/part-00002.parquet"
    late.write_bytes(encoded(rows.replace_schema_metadata()))


@pytest.mark.parametrize("harm", [twice_in_a_part, in_two_parts])
def test_every_key_is_read_once(store, tmp_path, harm):
    harm(tmp_path)
    wanted = [repeat_row(number).key for number in range(6)]
    assert len(pandas.read_parquet(tmp_path / "repeats")) > 6
    assert store.table("repeats", "first", ["key"])["key"].to_pylist() == wanted
    assert len(store.table("repeats", "first", ["val_score"])) == 6
    assert [score.repeat for score in store.repeat_scores("first")] == list(range(6))
    answer = run_query(store, "SELECT count(*) AS n, count(DISTINCT key) AS k FROM repeats")
    assert answer.to_pylist() == [{"n": 6, "k": 6}]
    assert store.find_key(wanted[0])[2].key == wanted[0]


def test_a_doubled_part_that_still_grows_is_mended(store, tmp_path, monkeypatch):
    twice_in_a_part(tmp_path)
    monkeypatch.setattr(tables, "ROWS_PER_PART", 100)
    run = store.reopen("first")
    run.append([repeat_row(6)])
    run.close()
    assert sorted(pandas.read_parquet(tmp_path / "repeats")["repeat"]) == list(range(7))


def test_parts_of_todays_drivers_are_left_to_the_query(store):
    shot = store.snapshot("repeats")
    assert len(shot.paths) == 2 and len(shot.rows) == 0


def test_scores_are_read_part_by_part(store, monkeypatch):
    """A run of millions of repeats is restored without a table of them."""
    monkeypatch.setattr(Store, "table", None)
    assert [score.repeat for score in store.repeat_scores("first")] == list(range(6))
    run = store.reopen("first")
    run.append([repeat_row(6)])  # in the write-ahead file alone
    assert [score.repeat for score in store.repeat_scores("first")] == list(range(7))
    run.close()


def test_a_trial_keeps_its_part_and_a_flush_writes_only_what_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "TRIALS_PER_PART", 2)
    run = Store.open(tmp_path).create("first", run_row())
    run.append([trial_row(number) for number in range(5)])
    run.flush()
    parts = sorted((tmp_path / "trials/run=first").iterdir())
    held = [pandas.read_parquet(part)["trial"].tolist() for part in parts]
    assert held == [[0, 1], [2, 3], [4]]
    before = [part.stat().st_ino for part in parts]
    run.append([trial_row(2, state="complete"), trial_row(4, state="complete")])
    run.flush()
    assert [part.stat().st_ino == old for part, old in zip(parts, before, strict=True)] == [
        True,
        False,
        False,
    ]
    assert sorted(pandas.read_parquet(tmp_path / "trials")["trial"]) == [0, 1, 2, 3, 4]
    run.close()
