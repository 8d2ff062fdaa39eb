"""``clar-tune query`` prints answers in four forms, and failures in one line."""

import csv
import io
import json

import pandas
import pytest
from click.testing import CliRunner
from support.stored_rows import repeat_row, run_row

from clar_tune.cli import main
from clar_tune.store import Store

SQL = "SELECT repeat, val_loss, sum(trial) AS total, started FROM repeats GROUP BY ALL ORDER BY 1"


@pytest.fixture
def folder(tmp_path):
    writer = Store.open(tmp_path / "store").create("first", run_row())
    writer.append([repeat_row(0), repeat_row(1, val_loss=float("nan"))])
    writer.close()
    return tmp_path / "store"


def ask(folder, *arguments):
    return CliRunner().invoke(main, ["query", *arguments, "--store", str(folder)])


def test_a_table_is_printed_whole(folder):
    long = "x" * 300
    result = ask(folder, f"SELECT '{long}' AS a, '[b]' AS \"[c]\"")
    assert result.exit_code == 0
    assert long in result.stdout and "[b]" in result.stdout and "[c]" in result.stdout


def test_a_text_of_several_lines_stays_on_its_row(folder):
    lines = ask(folder, "SELECT 'a' || chr(10) || 'b' AS c").stdout.splitlines()
    assert [line.strip() for line in lines if line.strip(" ─")] == ["c", "a⏎b"]


def test_csv_has_a_header_and_plain_values(folder):
    found = list(csv.reader(io.StringIO(ask(folder, SQL, "--format", "csv").stdout)))
    assert found == [
        ["repeat", "val_loss", "total", "started"],
        ["0", "0.1", "7", "2024-05-06T12:00:00.123456+00:00"],
        ["1", "", "7", "2024-05-06T12:00:00.123456+00:00"],
    ]


def test_json_is_json_even_for_what_is_not_a_number(folder):
    found = json.loads(ask(folder, SQL, "--format", "json").stdout)
    assert [row["val_loss"] for row in found] == [0.1, None]
    assert found[0]["total"] == 7


def test_parquet_is_written_to_stdout(folder):
    result = ask(folder, SQL, "--format", "parquet")
    assert pandas.read_parquet(io.BytesIO(result.stdout_bytes))["repeat"].tolist() == [0, 1]


def test_the_store_comes_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("CLAR_TUNE_STORE", str(folder))
    result = CliRunner().invoke(main, ["query", "SELECT count(*) AS n FROM repeats"])
    assert result.exit_code == 0 and "2" in result.stdout


def test_a_refused_query_is_one_line_and_exit_code_1(folder):
    result = ask(folder, "COPY repeats TO 'x.csv'")
    assert result.exit_code == 1 and result.stdout == ""
    assert result.stderr == "clar-tune: only SELECT is allowed here, not COPY.\n"


def test_a_damaged_file_is_named_on_stderr_and_the_rest_answered(folder):
    part = folder / "repeats/run=first/part-00000.parquet"
    part.write_bytes(b"PAR1")
    result = ask(folder, "SELECT count(*) AS n FROM repeats", "--format", "csv")
    assert result.exit_code == 0 and result.stdout == "n\n0\n"
    assert str(part) in result.stderr and result.stderr.count("\n") == 1
