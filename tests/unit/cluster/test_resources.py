"""What a trial occupies."""

import pytest

from clar_tune.cluster.resources import Resources
from clar_tune.errors import ParameterError


@pytest.mark.parametrize("gpus", [0.3, 0.15, 0.7, 0.4])
def test_a_share_that_leaves_much_of_a_device_idle_is_refused(gpus):
    with pytest.raises(ParameterError, match="idle"):
        Resources(1, gpus)


@pytest.mark.parametrize("gpus", [-1, -0.25, 1.5, 2, float("nan")])
def test_a_share_outside_one_device_is_refused(gpus):
    with pytest.raises(ParameterError, match="gpus-per-trial"):
        Resources(1, gpus)


@pytest.mark.parametrize("gpus", [0, 1, 0.5, 0.33, 1 / 3, 0.25, 0.2, 0.1, 0.125])
def test_whole_shares_are_accepted(gpus):
    assert Resources(1, gpus).gpus == gpus


@pytest.mark.parametrize("cpus", [0, -1, 1.5, 2.5, float("inf")])
def test_senseless_processor_counts_are_refused(cpus):
    with pytest.raises(ParameterError, match="cpus-per-trial"):
        Resources(cpus)


@pytest.mark.parametrize(("cpus", "threads"), [(0.5, 1), (1, 1), (4, 4)])
def test_threads_are_whole_processors(cpus, threads):
    assert Resources(cpus).threads == threads


def test_a_quarter_packs_four_to_a_device():
    assert Resources(1, 0.25).slots(cpus=16, gpus=2) == 8
    assert Resources(1, 1 / 3).slots(cpus=16, gpus=2) == 6
    assert Resources(1, 0.25).slots(cpus=3, gpus=2) == 3
    assert Resources(0.5).slots(cpus=2, gpus=0) == 4
    assert Resources(4).slots(cpus=2, gpus=0) == 0
    assert Resources(1, 0.5).slots(cpus=8, gpus=0) == 0
