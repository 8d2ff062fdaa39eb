"""Stores and runs as a program holds them, and their rows as DataFrames."""

import math
from functools import cache

import pandas as pd
import pytest
from support.results import simulated, stored
from support.stored_rows import final_row, run_row, trial_row

import clar_tune as ct
from clar_tune.errors import QueryError, StoreError, UnknownName, UnknownRun
from clar_tune.store import Store


@cache
def made():
    return simulated(graphs=("texas",), methods=("gcn", "gcn+clar"))


@pytest.fixture
def url(tmp_path):
    """Two runs, ``other`` begun before ``mine``."""
    row, memory = made()
    stored(tmp_path / "store", row, memory, "mine")
    Store.open(tmp_path / "store").create("other", run_row(state="paused")).close(
        state="paused", ended=None, seconds=1.0
    )
    return str(tmp_path / "store")


def test_a_store_is_a_mapping_of_runs_the_newest_first(url):
    runs = ct.open_store(url)
    assert list(runs) == ["mine", "other"] and len(runs) == 2
    assert "mine" in runs and "min" not in runs and "latest" not in runs
    assert (runs["mine"].name, runs["mine"].state) == ("mine", "finished")
    assert {name: run.state for name, run in runs.items()} == {
        "mine": "finished",
        "other": "paused",
    }
    assert runs.get("none") is None
    assert repr(runs) == f"<store {url}: mine, other>"
    assert repr(runs["mine"]) == f"<run mine, finished, in {url}>"


def test_a_run_that_there_is_not_is_told_with_those_that_there_are(url):
    with pytest.raises(UnknownRun) as raised:
        ct.open_store(url)["min"]
    assert isinstance(raised.value, KeyError)
    assert str(raised.value) == "unknown run 'min'. Did you mean 'mine'? Allowed: mine, other."


def test_runs_are_found_as_commands_find_them(url):
    runs = ct.open_store(url)
    assert runs.find("latest").name == runs.find("mi").name == "mine"
    with pytest.raises(UnknownName):
        runs.find("x")


def test_the_store_is_that_of_the_environment_unless_one_is_named(url, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert list(ct.open_store()) == []
    assert not (tmp_path / "clar-store").exists()
    monkeypatch.setenv("CLAR_TUNE_STORE", url)
    assert list(ct.open_store()) == ["mine", "other"]


def test_what_cannot_be_read_is_left_out_and_told(url, tmp_path):
    (tmp_path / "store/runs/run=other/part-00000.parquet").write_text("no parquet")
    runs = ct.open_store(url)
    assert list(runs) == ["mine"]
    assert len(runs.damaged) == 1 and "part-00000" in runs.damaged[0]
    with pytest.raises(StoreError, match="damaged"):
        runs["other"]


def test_finals_are_a_frame_with_parameters_as_columns(url):
    run, (_, memory) = ct.open_store(url)["mine"], made()
    finals = run.frame("finals")
    assert list(finals.columns[:5]) == ["run", "space", "settings", "graph", "method"]
    assert "params" not in finals and set(finals["run"]) == {"mine"}
    assert list(finals["key"]) == [row.key for row in memory.finals]
    for name in ("lr", "dropout", "alpha", "clamp"):
        expected = [row.params.get(name) for row in memory.finals]
        assert [None if pd.isna(value) else value for value in finals[name]] == expected
    clar = finals[finals.method == "gcn+clar"]
    assert isinstance(clar["terms"].iloc[0]["ori"]["active"], float)


def test_trials_and_repeats_are_frames_too(url):
    run, (_, memory) = ct.open_store(url)["mine"], made()
    trials = run.frame("trials")
    assert len(trials) == len(memory.trials) and trials["notes"].map(type).eq(list).all()
    repeats = run.frame("repeats")
    assert len(repeats) == len(memory.repeats)
    mean = repeats.groupby(["method", "trial"])["val_score"].mean()
    best = trials.set_index(["method", "trial"])["val_score"]
    assert math.isclose((mean - best).abs().max(), 0.0, abs_tol=1e-12)


def test_a_parameter_with_the_name_of_a_column_keeps_out_of_its_way(tmp_path):
    writer = Store.open(tmp_path).create("it", run_row())
    writer.append([trial_row(0), final_row(0, params={"seconds": 3, "lr": 0.5})])
    writer.close(state="finished", ended=None, seconds=1.0)
    finals = ct.open_store(tmp_path)["it"].frame("finals")
    assert (finals["param_seconds"][0], finals["seconds"][0], finals["lr"][0]) == (3, 0.1, 0.5)


def test_a_table_without_rows_is_a_frame_with_its_columns(url):
    empty = ct.open_store(url)["other"].frame("finals")
    assert len(empty) == 0 and {"run", "graph", "test_score"} <= set(empty.columns)


def test_a_table_that_there_is_not_is_refused(url):
    with pytest.raises(UnknownName, match="unknown table of a run 'final'.*'finals'"):
        ct.open_store(url)["mine"].frame("final")


def test_the_answer_to_a_query_is_a_frame(url):
    runs = ct.open_store(url)
    found = runs.query("SELECT run, method, count(*) AS n FROM finals GROUP BY ALL ORDER BY ALL")
    assert list(found.columns) == ["run", "method", "n"]
    assert list(found["method"]) == ["gcn", "gcn+clar"] and found["n"].dtype == "int64"
    with pytest.raises(QueryError):
        runs.query("DROP TABLE finals")
