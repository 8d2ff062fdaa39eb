"""A store on a disk that is full."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import PACED, WITHOUT_RAY, Place, assert_exact

SIZE = 2 << 20
"""Bytes of the disk: some hundred rows fit."""


class Disk:
    """A small file system of its own, made for a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, leave: int = 0) -> None:
        """Take all space, but for some bytes."""
        state = os.statvfs(self.folder)
        rest = state.f_bavail * state.f_frsize - leave
        try:
            with (self.folder / "ballast").open("wb") as stream:
                stream.write(bytes(max(rest, 0)))
        except OSError:
            pass  # a driver at work took the last of it

    def empty(self) -> None:
        """Give the space back."""
        (self.folder / "ballast").unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """A tmpfs at a folder for as long as the block lasts."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("file systems can be mounted by root alone")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "store") as mounted:
        yield mounted


@pytest.fixture
def place(tmp_path, disk):
    return Place(tmp_path, PACED)


def assert_readable(place: Place) -> None:
    """What was stored can be read, and nobody claims to be at work."""
    assert place.run("runs").out.startswith("it  running (its driver is gone: resume it)")
    assert [study["method"] for study in place.shown("it")["studies"]] == ["own_models:Paced"]
    counted = place.run("query", "SELECT count(*) AS n FROM repeats", "--format", "csv")
    assert counted.out.split() == ["n", str(len(place.repeats("it")))]


def assert_finished_by_resume(place: Place, stored: dict) -> None:
    place.pace(None)
    resumed = place.run("resume", "it", "--quiet")
    assert (resumed.code, resumed.err) == (0, "")
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    assert_exact(place, "it", trials=6, repeats=3, finals=3)
    assert place.store.find("it").row.state == "finished"


def test_a_full_disk_ends_the_run_clearly_and_resume_finishes_it(place, disk):
    place.pace(0.1)
    with place.started("run", "--space", "space.yaml", "--name", "it", "--quiet") as going:
        going.wait_for(lambda: len(place.repeats("it")) >= 3, "three repeats")
        disk.fill()
        done = going.end()
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1 and "Traceback" not in done.err
    assert "_wal.jsonl cannot be written: No space left on device" in done.err
    assert "then resume" in done.err
    stored = place.trainings("it")
    assert len(stored) >= 3
    assert_readable(place)

    place.program = WITHOUT_RAY
    full = place.run("resume", "it", "--quiet")
    assert full.code == 1 and full.err.count("\n") == 1
    assert "No space left on device" in full.err
    assert place.trainings("it") == stored
    assert_readable(place)

    disk.empty()
    assert_finished_by_resume(place, stored)


def test_a_disk_without_room_for_a_run_is_named_at_once(place, disk):
    place.program = WITHOUT_RAY
    disk.fill()
    done = place.search("--name", "it", "--quiet")
    assert (done.code, done.out) == (1, "")
    assert done.err.count("\n") == 1 and "No space left on device" in done.err
    assert place.run("runs").code == 0
    disk.empty()
    again = place.search("--name", "it", "--quiet")
    assert again.code == 0, again.err


def test_a_full_temporary_folder_is_named_and_nothing_is_stored(tmp_path, monkeypatch):
    place = Place(tmp_path, PACED)
    # Ray's sockets lie in it, and their names must not be long.
    with tempfile.TemporaryDirectory(dir="/tmp") as short, small_disk(Path(short, "t")) as disk:
        disk.fill()
        monkeypatch.setenv("TMPDIR", str(disk.folder))
        done = place.search("--name", "it")
    assert done.code == 1
    assert f"{disk.folder} has 0 MiB: choose another with TMPDIR" in done.err
    assert not place.store.runs()
