"""What a machine says about itself, and which addresses are its own."""

from dataclasses import replace

import pytest

from clar_tune.cluster.environment import is_loopback
from clar_tune.cluster.health import CODE, differences, examine


def test_differences_name_both_sides():
    ours = examine()
    theirs = replace(ours, versions={**ours.versions, CODE: "0123abcd", "ray": ""})
    assert differences(ours, ours) == []
    assert differences(ours, theirs) == [
        f"ray is missing instead of {ours.versions['ray']}",
        f"code of clar-tune 0123abcd instead of {ours.versions[CODE]}",
    ]


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("127.0.0.1:6379", True),
        ("localhost:6379", True),
        ("[::1]:6379", True),
        ("127.0.0.1", True),
        ("http://127.0.0.1:8265", True),
        ("http://localhost:8265", True),
        ("10.0.0.1:6379", False),
        ("head:6379", False),
        ("http://head:8265", False),
        ("auto", False),
        ("127.0.0.1.example.org:6379", False),
    ],
)
def test_loopback_is_known_by_its_address(address, near):
    assert is_loopback(address) == near
