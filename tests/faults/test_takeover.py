"""Drivers that were stopped and overtaken, as processes on a local Ray."""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import psutil
import pytest
from support.commands import PACED, WITHOUT_RAY, Place, assert_exact
from support.stored_rows import contents

from clar_tune.store.lease import read_lease

EXPIRY = 1.0
STOPPABLE = """
import os, signal
from pathlib import Path
from clar_tune.store import RunWriter, writer

writer.LOCAL_PERIOD = 1.0  # a flush is due as soon as the driver goes on
tick = RunWriter.tick

def stop_in_time(run):
    stop = Path("stop-after-rows")
    if stop.exists() and run._seq >= int(stop.read_text()):
        with run._lease._guard:  # not while its other thread has locked the run's folder
            stop.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
    tick(run)

RunWriter.tick = stop_in_time
from clar_tune.cli import main

main()
"""
"""``clar-tune`` with a driver that stops itself, between two rows, when a file says so."""


class HastyPlace(Place):
    """A folder whose drivers are overtaken soon after they fall silent."""

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), "CLAR_TUNE_LEASE": f"0.2/{EXPIRY}"}


@contextmanager
def stopped(processes: Sequence[psutil.Process]) -> Iterator[None]:
    """Processes that do nothing meanwhile; they go on even if the test fails."""
    try:
        _send(signal.SIGSTOP, processes)
        yield
    finally:
        _send(signal.SIGCONT, processes)


def _send(number: int, processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


@pytest.mark.parametrize("with_children", [False, True])
def test_a_stopped_driver_that_was_overtaken_writes_nothing_says_so_and_fails(
    tmp_path, with_children
):
    place = HastyPlace(tmp_path, PACED)
    place.program = (sys.executable, "-c", STOPPABLE)
    place.pace(0.1)
    (tmp_path / "stop-after-rows").write_text("8")
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        driver = psutil.Process(going.process.pid)
        going.wait_for(lambda: driver.status() == psutil.STATUS_STOPPED, "the driver's stop")
        assert 0 < len(place.repeats("it")) < 3 * 6
        with stopped(going.tree() if with_children else [driver]):
            going.wait_for(
                lambda: read_lease(place.store._files, "it").age > EXPIRY, "the end of its lease"
            )
            place.pace(None)
            place.program = WITHOUT_RAY
            second = place.run("resume", "it", "--quiet")
            assert (second.code, second.err) == (0, "")
            after_second = contents(tmp_path / "store")
        done = going.end()
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        "clar-tune: run it: its lease is gone: another driver took over and has ended, or the "
        "store was moved or removed. This driver stops and writes nothing more."
    )
    assert "Traceback" not in done.err
    assert done.out == ""
    assert contents(tmp_path / "store") == after_second
    assert place.store.find("it").row.state == "finished"
    assert_exact(place, "it", trials=6, repeats=3, finals=3)
