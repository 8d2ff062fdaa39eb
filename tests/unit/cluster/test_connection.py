"""A cluster is started while something else is done; Ray itself is not."""

import signal
import threading

import pytest

from clar_tune.cluster import connection
from clar_tune.cluster.connection import connected
from clar_tune.cluster.driver import MOST_AHEAD, Launch


@pytest.fixture
def ray(monkeypatch):
    """What happens to Ray, in order; starting it waits for ``go``."""
    said, go = [], threading.Event()

    def start(address, modules, gpus):
        said.append(("starts", threading.current_thread()))
        said.append(("hears", signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, ())))
        assert go.wait(60)
        said.append(("started", address))

    monkeypatch.setattr(connection, "_connect", start)
    monkeypatch.setattr(connection, "machines", lambda: ["machine"])
    monkeypatch.setattr(connection.ray, "shutdown", lambda: said.append(("left", "")))
    return said, go


def test_something_else_is_done_while_the_cluster_starts(ray):
    said, go = ray

    def meanwhile():
        said.append(("done", "meanwhile"))
        go.set()  # without it the start would not end

    with connected("auto", meanwhile=meanwhile) as nodes:
        assert nodes == ["machine"]
        assert ("done", "meanwhile") in said and said[-1] == ("started", "auto")
    assert said[-1] == ("left", "")


def test_the_thread_that_starts_it_lives_as_long_as_the_cluster(ray):
    said, go = ray
    go.set()
    with connected("auto"):
        starter = dict(said)["starts"]
        assert starter is not threading.current_thread() and starter.is_alive()
    assert not starter.is_alive()


def test_what_starts_does_not_hear_sigterm_and_this_thread_does_again(ray):
    said, go = ray
    go.set()
    before = signal.getsignal(signal.SIGTERM)
    with connected("auto"):
        assert dict(said)["hears"]  # blocked in the thread, and so in its processes
        assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        assert signal.getsignal(signal.SIGTERM) is before


def test_an_error_meanwhile_waits_for_the_start_and_leaves_the_cluster(ray):
    said, go = ray

    def meanwhile():
        go.set()
        raise KeyError("meanwhile")

    with pytest.raises(KeyError, match="meanwhile"), connected("auto", meanwhile=meanwhile):
        pytest.fail("there is no cluster")
    assert said[-2:] == [("started", "auto"), ("left", "")]


def test_an_error_of_the_start_is_raised_here(ray, monkeypatch):
    def refused(address, modules, gpus):
        raise OSError("no room")

    monkeypatch.setattr(connection, "_connect", refused)
    with pytest.raises(OSError, match="no room"), connected("auto"):
        pytest.fail("there is no cluster")


@pytest.mark.parametrize(
    ("given", "processors", "ahead"),
    [
        ({}, 2, True),
        ({}, MOST_AHEAD, True),
        ({}, MOST_AHEAD + 1, False),
        ({"max_concurrent": 1}, 2, False),
        ({"max_concurrent": 2}, 2, True),
        ({"cpus": 2.0}, 4, False),
        ({"gpus": 0.5}, 4, False),
    ],
)
def test_workers_start_ahead_where_trials_will_need_all_of_them(
    given, processors, ahead, monkeypatch
):
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    assert Launch(**given).workers_ahead() == ahead
