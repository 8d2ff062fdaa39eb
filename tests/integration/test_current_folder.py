"""The current folder is searched last, and only by commands that train."""

import subprocess
import sys

import pytest
from support.commands import CLAR_TUNE

from clar_tune.cluster.worker import search_here_last

TRAIN = ("train", "--graph", "csbm-homophily", "--max-epochs", "2", "--engine", "torch")
MODEL = """
from torch import nn


class Own(nn.Linear):
    def forward(self, x, edge_index):
        return super().forward(x)
"""


@pytest.fixture
def folder(tmp_path):
    """One with files that are called as libraries are, and one of the user's own."""
    for library in ("random", "statistics", "numpy", "yaml", "click"):
        (tmp_path / f"{library}.py").write_text("raise RuntimeError('the wrong one')\n")
    (tmp_path / "models_here.py").write_text(MODEL)
    return tmp_path


@pytest.mark.parametrize("program", [(CLAR_TUNE,), (sys.executable, "-m", "clar_tune")])
@pytest.mark.parametrize("words", [("graphs",), (*TRAIN, "--method", "models_here:Own")])
def test_no_file_there_stands_in_for_a_library(folder, program, words):
    done = subprocess.run(
        [*program, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_worker_searches_it_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), "library"])
    search_here_last()
    assert sys.path == ["library", str(tmp_path)]
    search_here_last()
    assert sys.path == ["library", str(tmp_path)]
