"""What goes into a store comes out of it, for clar-tune and for others."""

import json
from dataclasses import replace
from datetime import timedelta

import duckdb
import pandas
import pyarrow as pa
import pytest
from support.stored_rows import NOON, final_row, repeat_row, run_row, trial_row

from clar_tune.errors import ClarTuneError, StoreError, UnknownName
from clar_tune.rows import TABLES
from clar_tune.store import Store, tables

COMMON = ("run", "space", "graph", "method", "backbone", "regularizer", "condition", "protocol")
REPEAT = (
    *("trial", "key", "repeat", "split_seed", "init_seed", "metric", "val_score", "val_loss"),
    *("epochs", "best_epoch", "seconds", "params", "penalty_active", "started"),
    *("stop", "penalty_above", "penalty_zero", "engine", "cpu"),
)
CONTRACT = {
    "runs": COMMON,
    "trials": (
        *COMMON,
        *("trial", "state", "repeats", "val_score", "seconds", "params", "error", "started"),
    ),
    "repeats": (*COMMON, *REPEAT),
    "finals": (
        *(*COMMON, *REPEAT, "test_score"),
        *("arm", "test_balanced", "floor", "correct", "tested", "shift", "balanced_floor"),
    ),
}
INT32 = {"trial", "repeat", "repeats", "epochs", "best_epoch"}
INT64 = {"split_seed", "init_seed"}
FLOAT64 = {
    *("val_score", "val_loss", "test_score", "seconds", "penalty_active"),
    *("penalty_above", "penalty_zero", "test_balanced", "floor", "shift", "balanced_floor"),
}


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store")


@pytest.fixture
def filled(store):
    """A finished run with one row or two in every table."""
    writer = store.create("first", run_row())
    writer.append([trial_row(0), trial_row(1), repeat_row(0), final_row(0)])
    writer.close(state="finished")
    return store


def keys(table: pa.Table) -> list[int]:
    return [int(key, 16) for key in table["key"].to_pylist()]


def test_opening_a_store_creates_nothing(tmp_path):
    assert Store.open(tmp_path / "store").runs() == []
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_not_a_store(tmp_path):
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreError, match="is a file"):
        Store.open(tmp_path / "store")


def test_a_uri_that_pyarrow_does_not_know_is_refused_without_its_password():
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        Store.open("nope://user:secret@bucket/folder")
    assert "secret" not in str(caught.value) and "\n" not in str(caught.value)


def test_rows_come_back_as_they_were_given(store):
    score = 0.1 + 0.2  # has no short decimal form
    trial = trial_row(3, val_score=score, error="line one\nline two: ä", started=NOON)
    repeat = repeat_row(5, val_loss=float("inf"), penalty_active=None, split_seed=2**62)
    writer = store.create("first", run_row())
    for _ in ("ahead", "flushed"):
        writer.append([trial, repeat])
        assert store.trials("first")[0] == replace(trial, seq=store.trials("first")[0].seq)
        row = store.table("repeats", "first").to_pylist()[-1]
        assert row["val_loss"] == float("inf") and row["penalty_active"] is None
        assert row["split_seed"] == 2**62 and row["started"] == NOON
        writer.flush()
    writer.close()


def test_nan_survives_the_write_ahead_file(store):
    writer = store.create("first", run_row())
    writer.append([repeat_row(0, val_loss=float("nan"))])
    assert store.table("repeats", "first")["val_loss"][0].as_py() != 0
    writer.close()
    value = store.table("repeats", "first")["val_loss"][0].as_py()
    assert value != value


def test_rows_are_numbered_in_order_of_arrival_and_are_there_before_a_flush(store):
    writer = store.create("first", run_row())
    writer.append([repeat_row(0), repeat_row(1)])
    writer.flush()
    writer.append([trial_row(0), repeat_row(2)])
    assert store.table("repeats", "first")["seq"].to_pylist() == [0, 1, 3]
    assert keys(store.table("repeats", "first", ["key"])) == [0, 1, 2]
    assert store.table("repeats", "first", ["key"]).column_names == ["key"]
    writer.close()


def test_readers_see_the_last_row_of_each_trial(store):
    writer = store.create("first", run_row())
    writer.append([trial_row(0), trial_row(1)])
    writer.flush()
    writer.append([trial_row(0, state="complete")])
    seen = [(row.trial, row.state) for row in store.trials("first")]
    writer.close()
    assert seen == [(1, "running"), (0, "complete")]
    assert [(row.trial, row.state) for row in store.trials("first")] == seen


def test_trials_of_different_studies_do_not_replace_each_other(store):
    writer = store.create("first", run_row())
    writer.append(
        [trial_row(0, graph="cora"), trial_row(0, graph="texas"), trial_row(0, search=1)]
    )
    writer.close()
    assert len(store.trials("first")) == 3


def test_a_full_part_is_followed_by_a_new_one(store, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_PER_PART", 4)
    writer = store.create("first", run_row())
    for start in range(0, 10, 2):
        writer.append([repeat_row(start), repeat_row(start + 1)])
        writer.flush()
    writer.append([repeat_row(number) for number in range(10, 21)])
    writer.close()
    parts = sorted((tmp_path / "store/repeats/run=first").iterdir())
    assert [len(pandas.read_parquet(part)) for part in parts] == [4, 4, 4, 4, 4, 1]
    assert keys(store.table("repeats", "first")) == list(range(21))


def test_the_manifest_is_there_at_once_and_follows_updates(store):
    writer = store.create("first", run_row(state="running"))
    assert store.find("first").row.state == "running"
    writer.update(state="paused", seconds=3.5)
    assert store.find("first").row.state == writer.row.state == "paused"
    writer.close(state="finished")
    assert store.find("first").row == run_row(state="finished", seconds=3.5)


def test_runs_come_newest_first_and_are_found_by_prefix_and_as_latest(store):
    for days, name in enumerate(("quick-a", "quick-b", "other")):
        store.create(name, run_row(started=NOON + timedelta(days=days))).close()
    assert [run.name for run in store.runs()] == ["other", "quick-b", "quick-a"]
    assert store.find("latest").name == store.find("oth").name == "other"
    assert store.find("quick-a").name == "quick-a"
    with pytest.raises(StoreError, match="not unique: quick-b, quick-a"):
        store.find("quick")
    with pytest.raises(UnknownName, match="Did you mean 'quick-a'"):
        store.find("quik-a")
    with pytest.raises(UnknownName):
        store.find("")


def test_an_empty_store_says_so(store):
    with pytest.raises(StoreError, match="has no runs"):
        store.find("latest")


def test_an_exact_name_wins_over_longer_ones(store):
    for name in ("quick", "quick-2"):
        store.create(name, run_row()).close()
    assert store.find("quick").name == "quick"


@pytest.mark.parametrize("name", ["", "7", "Upper", "a_b", "../up", "a/b", "a=b", "latest", "a\n"])
def test_names_that_cannot_be_folders_or_columns_are_refused(store, name):
    with pytest.raises(StoreError, match="cannot name a run"):
        store.create(name, run_row())


def test_an_existing_name_is_refused(filled):
    with pytest.raises(StoreError, match="'first' exists"):
        filled.create("first", run_row())


def test_an_unknown_run_cannot_be_reopened(filled, tmp_path):
    with pytest.raises(UnknownName):
        filled.reopen("second")
    assert not (tmp_path / "store/runs/run=second").exists()


def test_a_finished_run_can_be_reopened_and_goes_on_counting(filled):
    writer = filled.reopen("first")
    writer.append([repeat_row(1)])
    writer.close()
    assert filled.table("repeats", "first")["seq"].to_pylist() == [2, 4]


def test_a_closed_run_takes_no_rows(filled):
    writer = filled.reopen("first")
    writer.close()
    with pytest.raises(StoreError, match="closed"):
        writer.append([repeat_row(1)])


def test_a_row_of_a_wrong_type_is_refused_and_harms_nothing(store):
    writer = store.create("first", run_row())
    for wrong in ({"trial": 2**40}, {"val_score": None}, {"metric": 3}):
        with pytest.raises(StoreError, match=next(iter(wrong))):
            writer.append([repeat_row(0), repeat_row(1, **wrong)])
    writer.append([repeat_row(2)])
    writer.close()
    assert keys(store.table("repeats", "first")) == [2]


def test_several_runs_write_to_one_store_at_once(store):
    writers = [store.create(f"run-{letter}", run_row()) for letter in "abc"]
    for number in range(5):
        for writer in writers:
            writer.append([repeat_row(number)])
    for writer in writers:
        writer.close()
    for writer in writers:
        assert keys(store.table("repeats", writer.name)) == list(range(5))


def test_a_finished_run_is_a_parquet_file_per_table_and_nothing_else(filled, tmp_path):
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    names = {path.relative_to(tmp_path / "store").as_posix() for path in files}
    assert names == {f"{table}/run=first/part-00000.parquet" for table in TABLES}


@pytest.mark.parametrize("table", TABLES)
def test_pandas_reads_the_columns_and_types_of_the_contract(filled, tmp_path, table):
    frame = pandas.read_parquet(tmp_path / "store" / table)
    assert set(CONTRACT[table]) <= set(frame.columns)
    assert set(frame["run"]) == {"first"}
    for column in CONTRACT[table][1:]:
        if column in INT32 | INT64:
            assert frame[column].dtype == ("int32" if column in INT32 else "int64"), column
        elif column in FLOAT64:
            assert frame[column].dtype == "float64", column
        elif column == "started":
            assert str(frame[column].dtype) == "datetime64[us, UTC]"
        elif column in ("correct", "tested"):
            assert all(isinstance(value, bytes) for value in frame[column])
        else:
            assert pandas.api.types.is_string_dtype(frame[column].dropna()), column


@pytest.mark.parametrize("table", TABLES)
def test_duckdb_reads_the_columns_and_types_of_the_contract(filled, tmp_path, table):
    described = duckdb.connect().execute(
        f"DESCRIBE SELECT * FROM '{tmp_path}/store/{table}/*/*.parquet'"
    )
    types = {name: kind for name, kind, *_ in described.fetchall()}
    for column in CONTRACT[table]:
        expected = "VARCHAR"
        if column in INT32 | INT64:
            expected = "INTEGER" if column in INT32 else "BIGINT"
        elif column in FLOAT64:
            expected = "DOUBLE"
        elif column in ("correct", "tested"):
            expected = "BLOB"
        elif column == "started":
            expected = "TIMESTAMP WITH TIME ZONE"
        assert types[column] == expected, column


def test_only_finals_have_a_test_score(filled):
    with_score = {table for table, kind in TABLES.items() if hasattr(kind, "test_score")}
    assert with_score == {"finals"}
    for column in CONTRACT["finals"][-7:]:
        assert column in filled.table("finals", "first").column_names
        assert column not in filled.table("repeats", "first").column_names
        assert column not in filled.table("trials", "first").column_names


def test_the_run_stands_in_the_path_only(filled, tmp_path):
    for file in (tmp_path / "store").rglob("*.parquet"):
        assert "run" not in pa.parquet.read_schema(file).names


def test_an_unknown_column_is_named(filled):
    with pytest.raises(UnknownName, match="Did you mean 'val_score'"):
        filled.table("repeats", "first", ["val_scor"])


def test_a_row_is_found_by_the_beginning_of_its_key(store):
    for days, name in enumerate(("older", "newer")):
        writer = store.create(name, run_row(started=NOON + timedelta(days=days)))
        writer.append([repeat_row(0xABC), final_row(1)])
        writer.close()
    writer = store.reopen("older")
    writer.append([repeat_row(0xABD)])  # only in the write-ahead file
    run, table, row = store.find_key("0000000000000abc")
    assert (run.name, table, row.repeat) == ("newer", "repeats", 0xABC)
    assert store.find_key("0000000000000abc", run="old")[0].name == "older"
    assert store.find_key("f0000")[1:] == ("finals", final_row(1, seq=1))
    assert store.find_key("0000000000000abd")[0].name == "older"
    writer.close()
    for missing in ("ffff", ""):
        with pytest.raises(StoreError, match="no row with key"):
            store.find_key(missing)
    with pytest.raises(StoreError, match="not unique"):
        store.find_key("0000")


def test_foreign_files_and_folders_are_ignored(filled, tmp_path):
    root = tmp_path / "store"
    (root / "README").write_text("hello")
    (root / "runs" / ".DS_Store").write_text("")
    (root / "runs" / "run=first" / "notes.txt").write_text("")
    (root / "plots").mkdir()
    (root / "repeats" / "run=First").mkdir()
    assert [run.name for run in filled.runs()] == ["first"]
    assert len(filled.table("repeats", "first")) == 1 and filled.damaged() == []


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def replaced(path):
    pandas.DataFrame({"a": [1]}).to_parquet(path)


@pytest.mark.parametrize("harm", [cut, replaced])
def test_a_damaged_part_is_named_and_the_rest_stays_readable(filled, tmp_path, harm):
    part = tmp_path / "store/repeats/run=first/part-00000.parquet"
    harm(part)
    with pytest.raises(StoreError, match=r"part-00000\.parquet is damaged.*Move it out"):
        filled.table("repeats", "first")
    assert len(filled.trials("first")) == 2 and len(filled.table("finals", "first")) == 1
    assert filled.find_key("f0")[1] == "finals"
    assert str(part) in filled.damaged()[0]


def test_a_damaged_manifest_hides_only_its_run(filled, tmp_path):
    filled.create("second", run_row()).close()
    cut(tmp_path / "store/runs/run=first/part-00000.parquet")
    assert [run.name for run in filled.runs()] == ["second"]
    assert "run=first" in filled.damaged()[0]
    with pytest.raises(StoreError, match="damaged"):
        filled.find("first")


def test_a_foreign_parquet_file_is_named(filled, tmp_path):
    replaced(tmp_path / "store/repeats/run=first/mine.parquet")
    with pytest.raises(StoreError, match=r"mine\.parquet is damaged or foreign"):
        filled.table("repeats", "first")


def test_a_column_that_may_be_none_may_be_missing_in_an_older_file(filled, tmp_path):
    part = tmp_path / "store/trials/run=first/part-00000.parquet"
    table = pa.parquet.read_table(part, partitioning=None)
    pa.parquet.write_table(table.drop_columns(["error"]), part)
    assert filled.trials("first")[0].error is None
    pa.parquet.write_table(table.drop_columns(["state"]), part)
    with pytest.raises(StoreError, match="no column 'state'"):
        filled.trials("first")


def test_errors_are_one_line(filled, tmp_path):
    cut(tmp_path / "store/trials/run=first/part-00000.parquet")
    with pytest.raises(ClarTuneError) as caught:
        filled.trials("first")
    assert "\n" not in str(caught.value)


def test_params_stay_the_text_they_were(store):
    params = json.dumps({"alpha": 1e-3, "name": "ä'\""}, sort_keys=True)
    writer = store.create("first", run_row())
    writer.append([trial_row(0, params=params)])
    writer.close()
    assert store.trials("first")[0].params == params
