"""Keys and scores of sixty studies are what they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from frozen.specifications import EPOCHS, EXACT, FLOATS, cases, processor, trained_rows

from clar_tune.engine import TARGET

FROZEN = json.loads(Path(__file__).with_name("specifications.json").read_text())
GENERATED = "csbm-heterophily"


def test_there_are_sixty() -> None:
    assert len(cases()) == 60
    assert cases().keys() == FROZEN["rows"].keys()


@pytest.mark.parametrize("name", cases())
def test_trainings_are_what_they_were(name: str, request: pytest.FixtureRequest) -> None:
    _check(name, "torch", processor() == FROZEN["processor"], request)


@pytest.mark.parametrize("name", FROZEN["native"])
def test_native_trainings_are_what_they_were(name: str, request: pytest.FixtureRequest) -> None:
    _check(name, "native", FROZEN["target"] == TARGET, request)


def _check(name: str, engine: str, same: bool, request: pytest.FixtureRequest) -> None:
    case = cases()[name]
    if case.get("graph", GENERATED) != GENERATED:
        request.getfixturevalue("data_folder")
    rows = trained_rows(case, engine)
    frozen = FROZEN["rows" if engine == "torch" else engine][name]
    if same:
        assert rows == frozen
    else:
        assert [_rounded(row) for row in rows] == [_rounded(row) for row in frozen]


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    """Without the digits that depend on the processor."""
    exact = {name: row[name] for name in (*EXACT, *EPOCHS)}
    floats = {name: float.fromhex(row[name]) for name in FLOATS if name in row}
    return {**exact, **{name: pytest.approx(value, rel=1e-4) for name, value in floats.items()}}
