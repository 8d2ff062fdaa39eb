"""The manifest and the rows of a simulated run are what they were."""

import json
from pathlib import Path

import pytest
from frozen.simulated_run import stored_content

FROZEN = json.loads(Path(__file__).with_name("simulated_run.json").read_text())


@pytest.mark.parametrize("table", ["runs", "trials", "repeats", "finals"])
def test_rows_are_what_they_were(table: str) -> None:
    rows = stored_content()[table]
    assert len(rows) == len(FROZEN[table])
    for row, frozen in zip(rows, FROZEN[table], strict=True):
        # Columns that were added since are not among the frozen ones.
        assert {name: row[name] for name in frozen} == frozen
