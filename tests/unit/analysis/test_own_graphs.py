"""Results on a user's own graphs are read without their files and without the user's code."""

import sys

import pytest
from support.own_graphs import arrays, npz
from support.results import finished, simulated, stored

from clar_tune.analysis import compare, read_run
from clar_tune.report import document_of, render

SPACE = """
graphs: [GRAPH]
methods: [gcn, gcn+clar]
search: {trials: 4, repeats: 3, sampler: random}
finals: 6
settings:
  tuned:
    protocol: own
    regularizers: {clar: {alpha: {choices: [0.1, 1]}}}
"""


@pytest.fixture
def here(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("splits", "units", "told"),
    [(3, 3, "Several split files: each is one unit"), (1, 6, "Fixed split: ")],
)
def test_seeds_are_averaged_within_each_of_several_splits(here, splits, units, told):
    masks = {name: mask[:, :splits] for name, mask in arrays().items() if name.endswith("_mask")}
    npz(here / "mine.npz", **masks)
    comparison = compare([finished(SPACE.replace("GRAPH", "mine.npz"))])
    assert {score.units for score in comparison.scores} == {units}
    assert any(sentence.startswith(told) for sentence in comparison.caption)


def test_neither_the_file_nor_the_code_is_needed_to_read(here, tmp_path, monkeypatch):
    (here / "graphs_of_mine.py").write_text(
        "from clar_tune.graphs import load_raw\n\n\ndef load():\n    return load_raw('mine.npz')\n"
    )
    monkeypatch.syspath_prepend(here)
    npz(here / "mine.npz")
    names = "'graphs_of_mine:load', mine.npz"
    store = stored(tmp_path / "store", *simulated(SPACE.replace("GRAPH", names)))
    (here / "mine.npz").unlink()
    (here / "graphs_of_mine.py").unlink()
    del sys.modules["graphs_of_mine"]
    documents = [document_of(compare([read_run(store, "simulated")]))]
    for form in ("terminal", "markdown", "latex", "csv", "json"):
        assert "mine.npz" in render(documents, form)
    assert "graphs_of_mine" not in sys.modules
