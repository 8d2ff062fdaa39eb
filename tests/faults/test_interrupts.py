"""Ctrl-C and SIGTERM on a local Ray."""

import os
import signal
import time

import pytest
from support.commands import PACED, WITHOUT_RAY, Place, assert_exact, left_of

DRAINING = "interrupted: repeats under way are finished first"


def ctrl_c(going):
    """As a terminal does it: the signal goes to all processes of the command."""
    os.killpg(going.process.pid, signal.SIGINT)


def sigterm(going):
    """As batch systems do it."""
    os.killpg(going.process.pid, signal.SIGTERM)


@pytest.mark.parametrize("stop", [ctrl_c, sigterm])
def test_one_signal_drains_and_resume_goes_on(tmp_path, stop):
    place, words = Place(tmp_path, PACED), ("--trials", "3", "--repeats", "6", "--no-pruning")
    place.pace(0.3)
    with place.started("run", "--space", "space.yaml", "--name", "it", *words) as going:
        going.wait_for(lambda: len(place.repeats("it")) > 2, "three repeats")
        tree = going.tree()
        stop(going)
        done = going.end()
    assert done.code == 130
    assert DRAINING in done.err
    assert done.err.splitlines()[-1] == "interrupted; go on with: clar-tune resume it"
    assert left_of(tree) == []
    assert place.store.find("it").row.state == "interrupted"
    stored, trials = place.trainings("it"), place.trials("it")
    assert "running" in {row["state"] for row in trials}
    assert {row["state"] for row in trials} <= {"running", "complete"}
    assert sum(row["repeats"] for row in trials) == len(stored)

    place.pace(None)
    place.program = WITHOUT_RAY
    resumed = place.run("resume", "it", "--quiet")
    assert (resumed.code, resumed.err) == (0, "")
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    assert_exact(place, "it", trials=3, repeats=6, finals=3)


def test_a_second_ctrl_c_stops_at_once_and_loses_nothing_that_was_stored(tmp_path):
    place = Place(tmp_path, PACED.replace("trials: 6", "trials: 60"))
    place.pace(0.03)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(lambda: len(place.repeats("it")) > 2, "three repeats")
        place.pace(600)
        time.sleep(1)
        tree = going.tree()
        stored = place.trainings("it")
        ctrl_c(going)
        going.wait_for(lambda: DRAINING in going.err.read_text(), "draining")
        ctrl_c(going)
        began = time.monotonic()
        done = going.end()
        took = time.monotonic() - began
    assert done.code == 130
    assert "Traceback" not in done.err
    assert took < 30
    assert left_of(tree) == []
    assert place.store.find("it").row.state == "interrupted"
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    assert "running" in {row["state"] for row in place.trials("it")}


@pytest.mark.parametrize("stop", [ctrl_c, sigterm])
def test_a_signal_while_the_run_starts_stops_it(tmp_path, stop):
    place = Place(tmp_path, PACED)
    with place.started("run", "--space", "space.yaml", "--name", "it") as going:
        going.wait_for(lambda: "log in" in going.err.read_text(), "the first line")
        going.wait_for(lambda: len(going.tree()) > 2, "the first processes of Ray")
        tree = going.tree()
        stop(going)
        done = going.end()
    assert done.code == 130
    assert "interrupted" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err
    assert left_of(tree) == []
    assert [run.row.state for run in place.store.runs()] in ([], ["interrupted"])
    assert place.repeats("it") == []
