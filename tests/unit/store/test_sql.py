"""SQL reads the store's tables and nothing else."""

import os
import signal
import threading
import time

import pandas
import pytest
from support.stored_rows import final_row, repeat_row, run_row, trial_row

from clar_tune.errors import QueryError
from clar_tune.rows import TABLES
from clar_tune.store import Store, tables
from clar_tune.store.sql import run_query


@pytest.fixture
def store(tmp_path):
    """A finished run and one at work, whose last rows are not in Parquet yet."""
    store = Store.open(tmp_path / "it's a store")
    writer = store.create("done", run_row())
    writer.append([trial_row(0), repeat_row(0), repeat_row(1), final_row(0)])
    writer.close(state="finished")
    writer = store.create("live", run_row())
    writer.append([trial_row(0), trial_row(1), repeat_row(2)])
    writer.flush()
    writer.append([trial_row(0, state="complete"), repeat_row(3), repeat_row(4)])
    yield store
    writer.close()


def rows(store, sql):
    return run_query(store, sql).to_pylist()


def test_all_runs_are_seen_with_the_rows_that_are_still_ahead(store):
    counted = "SELECT run, count(*) AS n FROM repeats GROUP BY ALL ORDER BY run"
    assert rows(store, counted) == [{"run": "done", "n": 2}, {"run": "live", "n": 3}]
    states = "SELECT trial, state FROM trials WHERE run = 'live' ORDER BY trial"
    assert [tuple(row.values()) for row in rows(store, states)] == [
        (0, "complete"),
        (1, "running"),
    ]
    assert [row["state"] for row in rows(store, "FROM runs ORDER BY run")] == [
        "finished",
        "running",
    ]
    assert rows(store, "SELECT test_score FROM FINALS") == [{"test_score": 0.1}]


def test_run_is_the_first_column_of_every_table(store):
    for table in TABLES:
        assert run_query(store, f"FROM {table}").column_names[0] == "run"
        assert run_query(store, f'FROM "{table.upper()}"').num_rows > 0


def test_full_parts_of_a_run_at_work_are_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "ROWS_PER_PART", 2)
    store = Store.open(tmp_path)
    writer = store.create("first", run_row())
    for number in range(5):
        writer.append([repeat_row(number)])
        writer.flush()
    writer.append([repeat_row(5)])
    answer = rows(store, "SELECT repeat FROM repeats ORDER BY seq")
    assert [row["repeat"] for row in answer] == [0, 1, 2, 3, 4, 5]
    writer.close()


def test_a_run_at_work_has_one_manifest_however_often_it_changes(tmp_path):
    store = Store.open(tmp_path)
    writer = store.create("first", run_row())
    for seconds in (1.0, 2.0, 3.0):
        writer.update(seconds=seconds)
    assert rows(store, "SELECT seconds FROM runs") == [{"seconds": 3.0}]
    writer.close()


def test_an_empty_store_has_empty_tables(tmp_path):
    store = Store.open(tmp_path / "none")
    assert rows(store, "SELECT count(*) AS n FROM finals") == [{"n": 0}]
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT 1 AS x) FROM a",
        "VALUES (1), (2)",
        "DESCRIBE repeats",
        "SUMMARIZE trials",
        "EXPLAIN SELECT count(*) FROM repeats",
        "explain analyze select 1",
        "-- a comment\nSELECT 1;",
        "SELECT * FROM range(3), unnest([1, 2])",
        "PIVOT trials ON state IN ('running', 'complete') USING count(*)",
        "SELECT json_extract_string(params, '$.alpha') FROM trials WHERE params LIKE '{%'",
        "SELECT table_name FROM information_schema.tables",
    ],
)
def test_statements_that_only_read_are_allowed(store, sql):
    run_query(store, sql)


def test_show_tables_shows_the_four(store):
    assert [row["name"] for row in rows(store, "SHOW TABLES")] == sorted(TABLES)


REFUSED = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_csv_auto('{file}')",
    "SELECT * FROM READ_TEXT('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{parquet}')",
    "SELECT * FROM parquet_scan('{part}')",
    "SELECT * FROM read_csv('{part}')",
    "SELECT * FROM parquet_metadata('{part}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('{folder}/*')",
    "FROM '{file}'",
    "FROM '{parquet}'",
    "DESCRIBE '{file}'",
    "FROM 'https://example.org/x.csv'",
    "FROM 's3://bucket/x.parquet'",
    "SELECT (SELECT count(*) FROM read_csv('{file}')) FROM trials",
    "WITH x AS (FROM read_csv('{file}')) FROM x",
    "SUMMARIZE FROM read_csv('{file}')",
    "EXPLAIN SELECT * FROM read_csv('{file}')",
    "FROM query('SELECT 1')",
    "FROM query_table('trials')",
    "FROM json_execute_serialized_sql('x')",
    "COPY trials TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{part}'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{part}'",
    "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1",
    "-- \nEXPLAIN ANALYZE CREATE TABLE x AS\nSELECT 1",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/x.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CREATE TABLE x (i INT)",
    "CREATE VIEW x AS SELECT 1",
    "CREATE MACRO f() AS 1",
    "CREATE SECRET (TYPE s3)",
    "DROP VIEW trials",
    "INSERT INTO trials VALUES (1)",
    "DELETE FROM trials",
    "UPDATE trials SET trial = 1",
    "CHECKPOINT",
    "USE memory",
    "BEGIN",
    "PREPARE x AS SELECT 1",
    "SELECT getenv('HOME')",
    "FROM duckdb_secrets()",
    "FROM duckdb_settings()",
    "FROM duckdb_extensions()",
    "FROM local_frame",
    "FROM store",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY trials TO '{folder}/out.csv'",
    "PIVOT trials ON state USING count(*)",
    "",
    "  ",
    "-- nothing",
    "SELEC 1",
]


@pytest.mark.parametrize("sql", REFUSED)
def test_everything_else_is_refused_in_one_line_and_touches_nothing(store, tmp_path, sql):
    local_frame = pandas.DataFrame({"secret": [1]})
    file, parquet = tmp_path / "secret.csv", tmp_path / "secret.parquet"
    file.write_text("a,b\n1,2\n")
    local_frame.to_parquet(parquet)
    part = tmp_path / "it's a store/trials/run=done/part-00000.parquet"
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    places = {"file": file, "parquet": parquet, "folder": tmp_path}
    quoted = str(part).replace("'", "''")
    with pytest.raises(QueryError) as caught:
        run_query(store, sql.format(**places, part=quoted))
    assert "\n" not in str(caught.value) and "secret,1" not in str(caught.value)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == before
    assert not list(tmp_path.glob("out*")) and not (tmp_path / "x.db").exists()


def test_a_misspelt_column_or_table_comes_with_the_nearest(store):
    with pytest.raises(QueryError, match='"val_score"'):
        run_query(store, "SELECT vall_score FROM trials")
    with pytest.raises(QueryError, match='Did you mean "trials"'):
        run_query(store, "FROM trails")


def test_a_damaged_file_is_left_out_and_named(store, tmp_path):
    part = tmp_path / "it's a store/repeats/run=done/part-00000.parquet"
    part.write_bytes(part.read_bytes()[:100])
    pandas.DataFrame({"a": [1]}).to_parquet(part.with_name("mine.parquet"))
    assert rows(store, "SELECT DISTINCT run FROM repeats") == [{"run": "live"}]
    assert [str(part) in line or "mine.parquet" in line for line in store.damaged()] == [True] * 2


def test_times_are_in_utc(store, monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    answer = rows(store, "SELECT CAST(started AS VARCHAR) AS t FROM runs LIMIT 1")
    assert answer == [{"t": "2024-05-06 12:00:00.123456+00"}]


def test_a_query_can_be_interrupted(store):
    long = "SELECT count(*) FROM range(3000000) a, range(100000) b WHERE a.range * b.range = 3"
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_query(store, long)
    assert time.monotonic() - started < 5
