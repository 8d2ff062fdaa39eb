"""Makes three small stores: a finished run, a paused one, one whose driver was killed."""

import shutil
import tempfile
from pathlib import Path

from support.commands import PACED, PATIENCE, Place

SLOW = 0.4
"""Seconds of each pass while a run is to be cut off."""


def make(folder: Path) -> None:
    """Write ``finished``, ``paused`` and ``killed`` below ``folder``."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        _finished(Place(Path(scratch) / "finished"), folder)
        _paused(Place(Path(scratch) / "paused", PACED), folder)
        _killed(Place(Path(scratch) / "killed", PACED), folder)


def _finished(place: Place, folder: Path) -> None:
    done = place.search("--name", "finished", "--seed", "2")
    assert done.code == 0, done.err
    shutil.copytree(place.folder / "store", folder / "finished")


def _paused(place: Place, folder: Path) -> None:
    place.pace(SLOW)
    for budget in range(15, int(PATIENCE), 5):
        done = place.search("--name", "paused", "--seed", "2", "--time-budget", f"{budget}s")
        assert done.code == 0, done.err
        if len(place.repeats("paused")) >= 2:
            break
        shutil.rmtree(place.folder / "store")
    shutil.copytree(place.folder / "store", folder / "paused")


def _killed(place: Place, folder: Path) -> None:
    """With at least two trainings in its write-ahead file, and its lease."""
    place.pace(SLOW)
    with place.started("run", "--space", "space.yaml", "--name", "killed", "--seed", "2") as going:
        going.wait_for(
            lambda: place.store.runs() and len(place.repeats("killed")) >= 4, "four trainings"
        )
        going.kill()
    shutil.copytree(place.folder / "store", folder / "killed")
