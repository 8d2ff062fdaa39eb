"""Values that are far too large are refused as such, not by a traceback."""

import click
import pytest

from clar_tune.cli.options import Duration, More
from clar_tune.cli.train import parsed
from clar_tune.errors import ParameterError


@pytest.mark.parametrize("text", ["9" * 400, "9" * 12 + "d", "1000000001"])
def test_spans_that_no_clock_can_wait_for(text):
    with pytest.raises(click.BadParameter, match="choose at most 1e.09 seconds"):
        Duration().convert(text, None, None)


@pytest.mark.parametrize("text", ["+" + "9" * 5000, "1234567890"])
def test_numbers_of_more_trials(text):
    with pytest.raises(click.BadParameter, match="write how many more"):
        More().convert(text, None, None)
    assert More().convert("+999999999", None, None) == 999_999_999


@pytest.mark.parametrize("text", ["[" * 5000, "9" * 5000, '"\\UFFFFFFFF"', "2001-99-99"])
def test_values_that_no_reader_of_yaml_takes(text):
    with pytest.raises(ParameterError, match="the value cannot be read"):
        parsed((f"alpha={text}",))
