"""Vectors: how exact an exponential is, and that no access lies beyond its array."""

import llvmlite.binding
import numba
import numpy as np
import pytest

from clar_tune.engine import compiling
from clar_tune.engine.compiling import SETTINGS
from clar_tune.engine.vectors import exponential, load, reached, store, zeros

LANES = 8


@numba.njit(**SETTINGS)
def exponentials(x, y):
    for start in range(0, len(x), LANES):
        store(y, start, exponential(load(x, start, zeros(LANES))))


def test_an_exponential_is_right_to_two_units_in_the_last_place():
    x = np.linspace(-87, 88, 2**20, dtype=np.float32)
    y = np.zeros_like(x)
    exponentials(x, y)
    exact = np.exp(x.astype(np.float64))
    assert (np.abs(y - exact) / np.spacing(exact.astype(np.float32))).max() < 2


def test_an_exponential_of_what_is_not_a_number():
    x = np.array([np.nan, -np.inf, -1000, 0, 88, -87, 1, np.nan], np.float32)
    y = np.zeros_like(x)
    exponentials(x, y)
    assert np.isnan(y[[0, 7]]).all()
    assert (y[1:4] == [0, 0, 1]).all() and np.isfinite(y[4:7]).all()


@pytest.mark.parametrize("offset", [-1, 9, 16])
def test_an_access_beyond_an_array_is_seen_where_bounds_are_checked(offset, monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)

    @numba.njit(**SETTINGS)
    def loads(x, at):
        store(x, 0, load(x, at, zeros(LANES)))

    @numba.njit(**SETTINGS)
    def stores(x, at):
        store(x, at, zeros(LANES))

    @numba.njit(**SETTINGS)
    def reaches(x, at):
        return reached(x, at, 1)

    x, numbers = np.ones(16, np.float32), np.ones(16, np.uint16)
    for call, array in ((loads, x), (stores, x), (reaches, numbers)):
        call(array, 8)
        with pytest.raises(IndexError, match="out of bounds"):
            call(array, offset)


class Features(dict):
    """What a processor has."""

    def flatten(self) -> str:
        return ",".join(f"+{name}" for name in self)


@pytest.mark.parametrize("able", [True, False])
def test_the_common_target_is_taken_by_those_that_can(able, monkeypatch):
    features = Features(dict.fromkeys(compiling.COMMON_FEATURES, True) if able else {"sse": True})
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_name", lambda: "this")
    monkeypatch.setattr(numba.config, "CPU_NAME", compiling.COMMON_TARGET)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    target = compiling._choose_target()
    assert target == compiling.COMMON_TARGET if able else target.startswith("this-")


def test_processors_of_one_name_and_other_features_are_told_apart(monkeypatch):
    monkeypatch.setattr(numba.config, "CPU_NAME", "this")
    targets = set()
    for features in ("+avx", "+avx,+avx2"):
        monkeypatch.setattr(numba.config, "CPU_FEATURES", features)
        targets.add(compiling._choose_target())
    assert len(targets) == 2
