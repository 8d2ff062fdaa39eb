"""Drivers that are killed on a local Ray, and what ``resume`` makes of their runs."""

import random
import time

import pytest
from support.commands import ONE, PACED, Place, assert_exact, comparable, copy_of, finished


@pytest.fixture
def one(tmp_path_factory):
    return finished(tmp_path_factory.getbasetemp())


def kill_when(place, moment, *words):
    """Start a command and kill it; nothing of it stays behind, and no row is lost."""
    with place.started(*words) as going:
        going.wait_for(moment, "the kill")
        stored = place.trainings("it")
        assert going.kill() == []
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    return after


def test_ten_kills_lose_nothing_double_nothing_and_leave_nothing_behind(tmp_path):
    space = PACED.replace("trials: 6", "trials: 12").replace("finals: 3", "finals: 12")
    place, draw = Place(tmp_path, space), random.Random(3)
    place.pace(0.03)

    def later(seconds):
        until = time.monotonic() + seconds
        return lambda: time.monotonic() > until

    def more(rows):
        wanted = len(rows("it")) + draw.randrange(1, 4)
        return lambda: len(rows("it")) >= wanted

    stored = kill_when(place, more(place.repeats), "run", "--space", "space.yaml", "--name", "it")
    moments = [
        *[lambda: more(place.repeats)] * 3,
        *[lambda: later(draw.uniform(0.5, 8))] * 3,
    ]
    draw.shuffle(moments)
    for moment in [*moments, *[lambda: more(place.finals)] * 3]:
        before, stored = stored, kill_when(place, moment(), "resume", "it")
        assert {key: stored[key] for key in before} == before
    assert place.run("resume", "it", "--quiet").code == 0
    after = place.trainings("it")
    assert {key: after[key] for key in stored} == stored
    assert_exact(place, "it", trials=12, repeats=3, finals=12)
    assert place.store.find("it").row.state == "finished"


def test_a_run_that_was_killed_and_resumed_equals_the_uninterrupted_one(one, tmp_path):
    place = copy_of(one, tmp_path)
    words = ("run", "--space", "space.yaml", "--name", "it", *ONE)
    # The middle of the search: the sampler has begun to learn, and trials were pruned.
    stored = kill_when(place, lambda: len(place.repeats("it")) >= 22, *words)
    assert len(stored) < len(place.trainings("one"))
    assert len(place.trials("it")) > 2 * 4
    done = place.run("resume", "it", "--max-concurrent", "1")
    assert done.code == 0, done.err
    for rows in (place.trials, place.repeats, place.finals):
        assert comparable(rows("it")) == comparable(rows("one"))
