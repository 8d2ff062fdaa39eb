"""What a machine says about itself, and which addresses are its own."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import clar_tune
from clar_tune.health import CODE, differences, examine
from clar_tune.search.environment import is_loopback

EXAMINED = f"from clar_tune.health import examine; print(examine().versions[{CODE!r}])"


def code_in(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", EXAMINED], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_a_machine_with_edited_files_differs(tmp_path):
    copy = tmp_path / "clar_tune"
    shutil.copytree(Path(clar_tune.__file__).parent, copy)
    ours = examine()
    assert code_in(tmp_path) == ours.versions[CODE]
    with (copy / "training.py").open("a") as file:
        file.write("\n# edited\n")
    assert code_in(tmp_path) != ours.versions[CODE]


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
