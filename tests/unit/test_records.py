import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from clar_tune.records import TrainSpec, to_stored
from clar_tune.version import NUMBERS_VERSION

SPEC = TrainSpec(
    graph="cora",
    graph_hash="abc",
    backbone="gcn",
    regularizer="clar",
    protocol="planetoid",
    split_seed=0,
    init_seed=1,
    params={"alpha": 1.0, "beta": 2.0},
)
VALUES = st.one_of(st.floats(allow_nan=False), st.integers(), st.text(), st.none(), st.booleans())


def test_the_key_is_the_same_on_every_machine():
    assert SPEC.key == "b364754524d9ef1b"


def test_a_key_of_an_earlier_version_had_no_other_contents(monkeypatch):
    """Fields that came since are not part of it while they are at their default."""
    for version, key in ((2, "ae1c03d5c3a2c84b"), (3, "7387f52b8e62bcde")):
        monkeypatch.setattr("clar_tune.records.NUMBERS_VERSION", version)
        assert SPEC.key == key


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_the_order_of_parameters_does_not_matter(params):
    turned = dict(reversed(list(params.items())))
    assert replace(SPEC, params=params).key == replace(SPEC, params=turned).key


@pytest.mark.parametrize(
    "change",
    [
        {"graph": "citeseer"},
        {"graph_hash": "abd"},
        {"backbone": "gat"},
        {"regularizer": "nl"},
        {"protocol": "random-60-20-20"},
        {"split_seed": 1},
        {"init_seed": 2},
        {"params": {"alpha": 1.0, "beta": 2.1}},
        {"condition": "layers=8"},
        {"outer_test": 0.2},
        {"max_epochs": 10},
        {"patience": 10},
        {"warmup": 10},
        {"select": "accuracy"},
        {"optimizer": "sgd"},
        {"threads": 2},
        {"stop": "released"},
        {"engine": "native"},
        {"arm": "off"},
    ],
)
def test_everything_that_decides_a_number_changes_the_key(change):
    assert replace(SPEC, **change).key != SPEC.key


def test_a_device_is_part_of_a_key_where_it_is_not_the_default():
    """Rows of processors keep the keys that they had before there was a device."""
    spec = TrainSpec("g", "h", "gcn", "none", "p", 0, 1, {"lr": 0.1})
    content = {name: value for name, value in to_stored(spec).items() if name != "device"}
    old = json.dumps({**content, "numbers": NUMBERS_VERSION}, sort_keys=True)
    assert spec.key == hashlib.sha256(old.encode()).hexdigest()[:16]
    assert replace(spec, device="cuda").key != spec.key
