"""docs/GRAPHS.md: every way to bring a graph works in a folder with nothing else in it."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import WITHOUT_RAY
from support.pages import ROOT, fenced, section

from clar_tune.analysis import compare, read_run
from clar_tune.store import Store

PAGE = "docs/GRAPHS.md"
WAYS = {
    "A file of arrays": "array",
    "A Data of torch-geometric": "tensors",
    "A function": "function",
    "A dataset that torch-geometric has": "dataset",
}
"""Sections with the run that each ends in."""


def typed(command: str, folder: Path) -> str:
    """What a command prints that is typed in a folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAR_TUNE_")}
    home = folder.parent
    own = {"XDG_CACHE_HOME": str(home / "cache"), "CLAR_TUNE_GRAPHS": str(home / "kept")}
    words = [*WITHOUT_RAY, *shlex.split(command)[1:]]
    done = subprocess.run(
        words, cwd=folder, env={**kept, **own}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def prepare(heading: str, folder: Path) -> None:
    """What the section writes: the module that it names, or what its script writes."""
    text = section(PAGE, heading)
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        module = re.search(r"^In `(\w+\.py)`:", text, re.MULTILINE)
        if module:
            (folder / module[1]).write_text(block)
        else:
            exec(block, {})


@pytest.mark.parametrize("heading", WAYS)
def test_each_way_ends_in_a_comparison_which_needs_no_file(heading, tmp_path, monkeypatch):
    folder = tmp_path / "clean"
    folder.mkdir()
    monkeypatch.chdir(folder)
    prepare(heading, folder)
    told = ""
    for command in fenced(PAGE, heading):
        told = typed(command, folder)
    name = WAYS[heading]
    assert "gcn" in told and name in told
    away = tmp_path / "away"
    shutil.copytree(folder / "clar-store", away / "store")
    monkeypatch.chdir(away)
    (score, *_) = compare([read_run(Store.open(away / "store"), name)]).scores
    assert score.mean > 0.3


def test_a_graph_is_kept_and_removed_as_shown(tmp_path):
    text, folder = section(PAGE, "Under a name"), tmp_path / "clean"
    folder.mkdir()
    for command in fenced(PAGE, "Under a name"):
        told = typed(command, folder)
        after = text.partition(f"$ {command}\n")[2].partition("\n")[0]
        assert after.startswith(("$", "```")) or told == f"{after}\n"


def test_all_names_of_arrays_stand_on_the_page():
    from clar_tune.graphs.own_arrays import FIELDS
    from clar_tune.graphs.own_files import ALSO

    text = (ROOT / PAGE).read_text()
    assert all(f"`{name}`" in text for name in (*FIELDS, ALSO["x"], ALSO["edge_index"], ALSO["y"]))
