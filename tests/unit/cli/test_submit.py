"""Which run a submitted command is about, once the cluster has been asked."""

from types import SimpleNamespace

import pytest

from clar_tune.cli.submit import Order, _in_full


class Jobs:
    """Jobs of a cluster that has driven one run."""

    def all(self):
        return [SimpleNamespace(run="first-run")]

    def find(self, text):
        assert text in ("latest", "first")
        return SimpleNamespace(run="first-run")


@pytest.mark.parametrize(
    ("run", "words", "expected"),
    [
        ("first", ["first", "--store", "/s"], ["first-run", "--store", "/s"]),
        ("first", ["--run", "first", "--store", "/s"], ["--run", "first-run", "--store", "/s"]),
        ("first", ["--run=first", "--store", "/s"], ["--run", "first-run", "--store", "/s"]),
        ("latest", ["--store", "/s"], ["--run", "first-run", "--store", "/s"]),
        ("first-run", ["first-run"], ["first-run"]),
        ("elsewhere", ["elsewhere"], ["elsewhere"]),
    ],
)
def test_the_head_is_told_the_whole_name(run, words, expected):
    order = _in_full(Order("resume", run, words, [], 1.0), Jobs())
    assert order.words == expected
    assert order.run in expected
