"""Spans of time as people write them."""

import click
import pytest

from clar_tune.analysis import duration
from clar_tune.cli.options import Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("45s", 45), ("30m", 1800), ("1.5h", 5400), ("1h30m", 5400), ("2D", 172800)],
)
def test_spans_are_read(text, seconds):
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5m", "0", "0s", "5 minutes", "h", "1m30"])
def test_anything_else_is_refused(text):
    with pytest.raises(click.BadParameter):
        Duration().convert(text, None, None)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (8.4, "8 s"),
        (125, "2 min 05 s"),
        (12_000, "3 h 20 min"),
        (216_000, "2 d 12 h"),
    ],
)
def test_spans_are_written(seconds, text):
    assert duration(seconds) == text
