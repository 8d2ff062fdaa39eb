"""docs/first-steps.ipynb: a real kernel runs it from top to bottom."""

import re

import nbformat
import pytest
from nbclient import NotebookClient
from support.pages import ROOT

NOTEBOOK = ROOT / "docs/first-steps.ipynb"
VERDICTS = ("better", "worse", "equal", "undecided", "none")
"""``none`` where winners of one search each are compared."""


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    client = NotebookClient(
        notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    return client.execute()


def shown(executed, code: str) -> list[dict[str, str]]:
    """What the cell with this code shows, by media type; it prints nothing."""
    (cell,) = [c for c in executed.cells if c.cell_type == "code" and code in c.source]
    kinds = {output.output_type for output in cell.outputs}
    assert kinds <= {"execute_result", "display_data"}, cell.outputs
    return [output.data for output in cell.outputs]


def test_it_is_kept_without_what_it_shows():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert not any(c.outputs or c.execution_count for c in notebook.cells if "outputs" in c)


def test_a_search_shows_how_far_it_is_and_ends(executed):
    progress, run = shown(executed, "run = ct.run")
    assert "3/3 studies confirmed" in progress["text/html"]
    assert re.fullmatch(r"<run own-\d+-\w{4}, finished, in clar-store>", run["text/plain"])


def test_finals_are_a_table_of_pandas(executed):
    (data,) = shown(executed, "run.frame")
    html = data["text/html"]
    assert 'class="dataframe"' in html
    assert all(name in html for name in ("gcn+clar", "my_models:Skip", "test_score", "lr"))


def test_the_comparison_shows_itself(executed):
    (data,) = shown(executed, "comparison = ct.compare")
    html = data["text/html"]
    assert html.strip().startswith('<div class="clar-tune">')
    assert "What can be concluded" in html and "my_models:Skip" in html


def test_the_figure_shows_itself(executed):
    (data,) = shown(executed, "ct.figures")
    html = data["text/html"]
    assert '<img src="data:image/svg+xml;base64,' in html


def test_the_own_model_has_a_verdict_against_gcn(executed):
    (data,) = shown(executed, 'frame("backbones")')
    text = data["text/plain"]
    assert "my_models:Skip" in text and any(verdict in text for verdict in VERDICTS)
