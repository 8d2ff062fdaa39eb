"""Drivers that were stopped and overtaken, as processes on a local Ray."""

import signal
import sys

import pytest
from commands import PACED, Going, Place, assert_exact
from stored_rows import contents

from clar_tune.store.lease import read_lease

pytestmark = pytest.mark.slow

EXPIRY = 3.0
IMPATIENT = f"""
from clar_tune.store import lease, writer

lease.PERIOD, lease.EXPIRY, writer.LOCAL_PERIOD = 0.5, {EXPIRY}, 1.0
from clar_tune.cli import main

main()
"""
"""``clar-tune`` with a lease that expires soon."""


class ImpatientPlace(Place):
    """A folder whose drivers are overtaken after some seconds of silence."""

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-c", IMPATIENT, *words]


def driver_alone(going: Going):
    return going.tree()[:1]


def driver_and_children(going: Going):
    return going.tree()


@pytest.mark.parametrize("stopped", [driver_alone, driver_and_children])
def test_a_stopped_driver_that_was_overtaken_writes_nothing_says_so_and_fails(tmp_path, stopped):
    place = ImpatientPlace(tmp_path, PACED)
    place.pace(0.1)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(lambda: len(place.repeats("it")) > 2, "three repeats")
        processes = stopped(going)
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        going.wait_for(
            lambda: read_lease(place.store._files, "it").age > EXPIRY, "the end of its lease"
        )
        place.pace(None)
        second = place.run("resume", "it", "--quiet")
        assert (second.code, second.err) == (0, "")
        after_second = contents(tmp_path / "store")
        for process in reversed(processes):
            process.send_signal(signal.SIGCONT)
        done = going.end()
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(
        "clar-tune: run it: its lease is gone: another driver took over and has ended, "
    )
    assert "Traceback" not in done.err
    assert done.out == ""
    assert contents(tmp_path / "store") == after_second
    assert place.store.find("it").row.state == "finished"
    assert_exact(place, "it", trials=6, repeats=3, finals=3)
