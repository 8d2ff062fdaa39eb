"""Stores written before are read, resumed and compared."""

import json
import shutil
from pathlib import Path

import pytest
from support.commands import PACED, SPACE, assert_exact
from support.one_ray import OneRay, SharedPlace

from clar_tune.version import NUMBERS_VERSION

STORES = Path(__file__).with_name("stores")
OLDER = {version: STORES.with_name(f"stores_of_version_{version}") for version in (2, 3)}
"""Of versions whose numbers this program does not make any more."""


def copied(name: str, folder: Path, ray: OneRay, stores: Path = STORES) -> SharedPlace:
    place = SharedPlace(folder, ray, SPACE if name == "finished" else PACED)
    shutil.copytree(stores / name, folder / "store", dirs_exist_ok=True)
    return place


@pytest.mark.parametrize(
    "stores", [STORES, *OLDER.values()], ids=["newest", *(f"version {v}" for v in OLDER)]
)
def test_finished_store_is_read_and_compared(
    stores: Path, tmp_path: Path, shared_ray: OneRay
) -> None:
    place = copied("finished", tmp_path, shared_ray, stores)
    assert_exact(place, "finished", trials=9, repeats=3, finals=3)
    done = place.run("compare", "--format", "json")
    assert done.code == 0, done.err
    (comparison,) = json.loads(done.out)["comparisons"]
    assert [score["budget"]["finals"] for score in comparison["scores"]] == [3, 3]
    assert place.run("resume", "finished").code == 0
    assert place.run("report", "--out", "page.html").code == 0


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("name", ["paused", "killed"])
def test_unfinished_store_of_other_numbers_is_read_and_left_as_it_is(
    name: str, version: int, tmp_path: Path, shared_ray: OneRay
) -> None:
    place = copied(name, tmp_path, shared_ray, OLDER[version])
    before = place.trainings(name)
    assert len(before) >= 2
    assert place.run("show", name).code == 0
    done = place.run("resume", name)
    assert done.code == 1
    told = f"its numbers are of version {version}, this program makes version {NUMBERS_VERSION}."
    assert told in done.err
    assert place.trainings(name) == before


@pytest.mark.parametrize("name", ["paused", "killed"])
def test_unfinished_store_is_resumed_and_keeps_its_rows(
    name: str, tmp_path: Path, shared_ray: OneRay
) -> None:
    place = copied(name, tmp_path, shared_ray)
    before = place.trainings(name)
    assert len(before) >= 2
    assert place.run("show", name).code == 0
    done = place.run("resume", name, "--max-concurrent", "1")
    assert done.code == 0, done.err
    assert_exact(place, name, trials=6, repeats=3, finals=3)
    after = place.trainings(name)
    assert {key: after[key] for key in before} == before
    assert place.shown(name)["state"] == "finished"
    assert place.run("compare", "--run", name).code == 0


def test_killed_store_has_a_write_ahead_file_and_a_lease() -> None:
    files = {path.name for path in (STORES / "killed").rglob("_*")}
    assert files == {"_wal.jsonl", "_lease.json"}
