"""The two commands that the README shows first, in the environment that make has set up."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import ROOT

READY = Path(sys.prefix, ".ready")

pytestmark = pytest.mark.skipif(not READY.exists(), reason="this environment was not made by make")


def made(folder: Path, *words: str) -> str:
    """What make prints; its set-up is done."""
    others = ("RAY_", "MAKE", "PYTEST_", "CLAR_TUNE_STORE")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    done = subprocess.run(
        ["make", *words, f"VENV={sys.prefix}"],
        cwd=folder,
        env={**kept, "XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_make_run_ends_with_the_table_and_the_path_of_the_report(tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, tmp_path)
    told = made(tmp_path, "run")
    assert re.search(r"^csbm-heterophily¹ +[\d.]+", told, re.MULTILINE)
    assert told.splitlines()[-1] == "report.html"
    assert "csbm-heterophily" in (tmp_path / "report.html").read_text()


def test_make_test_runs_the_tests(tmp_path):
    shutil.copytree(
        ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy2(ROOT / name, tmp_path)
    told = made(tmp_path, "test", "TESTS=tests/unit/cli/test_durations.py")
    assert re.search(r"\d+ passed in", told)
