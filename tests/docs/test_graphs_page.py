"""docs/GRAPHS.md: every way to bring a graph works in a folder with nothing else in it."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.one_ray import OneRay, one_ray
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


@pytest.fixture(scope="module")
def ray(tmp_path_factory) -> Iterator[OneRay]:
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "CLAR_TUNE_GRAPHS": str(home / "kept")}
    with one_ray(home, environment) as ray:
        yield ray


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
def test_each_way_ends_in_a_comparison_which_needs_no_file(heading, ray, tmp_path, monkeypatch):
    folder = tmp_path / "clean"
    folder.mkdir()
    monkeypatch.chdir(folder)
    prepare(heading, folder)
    told = ""
    for command in fenced(PAGE, heading):
        done = ray.run(folder, *shlex.split(command)[1:])
        assert done.code == 0, done.err
        told = done.out
    name = WAYS[heading]
    assert "gcn" in told and name in told
    away = tmp_path / "away"
    shutil.copytree(folder / "clar-store", away / "store")
    monkeypatch.chdir(away)
    (score, *_) = compare([read_run(Store.open(away / "store"), name)]).scores
    assert score.mean > 0.3


def test_a_graph_is_kept_and_removed_as_shown(ray, tmp_path):
    text = section(PAGE, "Under a name")
    for command in fenced(PAGE, "Under a name"):
        done = ray.run(tmp_path, *shlex.split(command)[1:])
        assert done.code == 0, done.err
        after = text.partition(f"$ {command}\n")[2].partition("\n")[0]
        assert after.startswith(("$", "```")) or done.out == f"{after}\n"


def test_all_names_of_arrays_stand_on_the_page():
    from clar_tune.graphs.own_arrays import FIELDS
    from clar_tune.graphs.own_files import ALSO

    text = (ROOT / PAGE).read_text()
    assert all(f"`{name}`" in text for name in (*FIELDS, ALSO["x"], ALSO["edge_index"], ALSO["y"]))
