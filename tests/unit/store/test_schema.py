"""Rows as stored: JSON is text in files alone, and older files give today's columns."""

import json

import pyarrow as pa
import pytest
from support.stored_rows import final_row, run_row, trial_row

from clar_tune.errors import StoreError
from clar_tune.rows import USED_UP, FinalRow, RunRow, TrialRow
from clar_tune.store.schema import conform, plain, rows_of, schema_of, table_of


def test_a_row_is_read_as_it_was_written():
    rows = [trial_row(3, params={"lr": 0.1, "clamp": None}, notes=["a", "b"], used_up=True)]
    found = rows_of(TrialRow, table_of("trials", [plain("trials", row) for row in rows]))
    assert found == rows


def test_json_is_stored_as_text_with_keys_sorted_or_in_their_order():
    row = run_row(budget={"b": 1, "a": {"z": 1, "y": 2}}, graph_hashes={"texas": "1", "cora": "2"})
    stored = plain("runs", row)
    assert stored["budget"] == '{"a": {"y": 2, "z": 1}, "b": 1}'
    assert stored["graph_hashes"] == '{"texas": "1", "cora": "2"}'
    assert rows_of(RunRow, table_of("runs", [stored])) == [row]


def test_nothing_is_stored_as_nothing():
    stored = plain("runs", run_row(columns=None, correlate=None))
    assert (stored["columns"], stored["correlate"]) == (None, None)
    (row,) = rows_of(RunRow, table_of("runs", [stored]))
    assert (row.columns, row.correlate) == (None, None)


@pytest.mark.parametrize("bits", [None, b"", b"\x00\xff\x80"])
def test_bytes_are_text_in_the_write_ahead_file_alone(bits):
    row = final_row(0, correct=bits)
    stored = json.loads(json.dumps(plain("finals", row)))
    table = table_of("finals", [stored])
    assert table.schema.field("correct").type == pa.binary()
    assert rows_of(FinalRow, table) == [row]


def test_bytes_that_are_no_such_text_are_named():
    stored = plain("finals", final_row(0)) | {"correct": "%"}
    with pytest.raises(StoreError, match="finals, column correct"):
        table_of("finals", [stored])


def test_finals_of_older_versions_are_those_of_winners_without_floors():
    """Whether they come from a write-ahead file or from Parquet."""
    added = {"arm", "test_balanced", "floor", "correct", "tested", "shift", "balanced_floor"}
    added |= {"stop", "penalty_above", "penalty_zero", "engine", "cpu"}
    stored = {k: v for k, v in plain("finals", final_row(0)).items() if k not in added}
    (ahead,) = rows_of(FinalRow, table_of("finals", [stored]))
    names = schema_of("finals").names
    file = table_of("finals", [stored]).drop_columns(list(added))
    (kept,) = rows_of(FinalRow, conform(file, "finals", names, "a file"))
    assert ahead == kept
    assert (kept.arm, kept.stop, kept.engine) == ("on", "patience", "torch")
    nothing = added - {"arm", "stop", "engine"}
    assert [getattr(kept, name) for name in sorted(nothing)] == [None] * 9


def test_text_that_is_no_json_is_named():
    stored = plain("runs", run_row()) | {"budget": "{"}
    with pytest.raises(StoreError, match="runs, column budget: '{' is no JSON"):
        rows_of(RunRow, table_of("runs", [stored]))


def older(**given: object) -> dict[str, object]:
    """A trial as versions wrote it that had no column for a space that is used up."""
    row = plain("trials", trial_row(0, unfilled=0, **given))
    del row["used_up"]
    return row


@pytest.mark.parametrize("notes", [["retried", USED_UP], ["retried"]])
def test_a_note_of_older_rows_becomes_a_column(notes):
    """Whether they come from a write-ahead file or from Parquet."""
    stored = older(notes=notes)
    (ahead,) = rows_of(TrialRow, table_of("trials", [stored]))
    names = [name for name in schema_of("trials").names if name != "used_up"]
    file = table_of("trials", [stored]).select(names)
    (kept,) = rows_of(TrialRow, conform(file, "trials", schema_of("trials").names, "a file"))
    assert ahead == kept
    assert kept.used_up == (USED_UP in notes)
    assert kept.notes == ["retried"] and kept.remarks == notes


def test_columns_that_were_added_have_their_default_as_text():
    file = table_of("runs", [plain("runs", run_row())]).drop_columns(["drivers", "columns"])
    (row,) = rows_of(RunRow, conform(file, "runs", schema_of("runs").names, "a file"))
    assert row.drivers == [] and row.columns is None
    assert schema_of("runs").field("drivers").type == pa.string()
    assert json.loads(conform(file, "runs", ["drivers"], "a file")["drivers"][0].as_py()) == []
