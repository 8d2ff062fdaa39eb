"""docs/API.md: every block of code runs, one after the other, as in one program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import ROOT

import clar_tune

PAGE = (ROOT / "docs/API.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BEFORE = "from support.without_ray import alone\nalone()\n"
"""Its drivers train by themselves: a notebook on a local Ray is in test_notebook.py."""
END = "print('end of block {}')\n"


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("api")
    program = "".join(f"{block}\n{END.format(number)}" for number, block in enumerate(BLOCKS))
    (folder / "program.py").write_text(BEFORE + program)
    return folder, subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_block_runs_and_prints_nothing_but_what_it_asks_for(done):
    _, program = done
    assert program.returncode == 0, program.stderr
    progress = r"\d+ m?s: \d/2 studies confirmed, .*"  # of the call that is to show it
    assert all(re.fullmatch(progress, line) for line in program.stderr.splitlines())
    for number in range(len(BLOCKS)):
        assert END.format(number)[7:-3] in program.stdout


def test_what_the_page_says_is_printed_is(done):
    _, program = done
    said = re.findall(r"^print\(.*?\)  # (first finished|False|2)\b", PAGE, re.MULTILINE)
    assert said == ["first finished", "False", "2"]
    lines = program.stdout.splitlines()
    assert set(said) <= set(lines)
    assert any(re.fullmatch(r"first +gcn\+clar +6", line[2:].strip()) for line in lines)
    assert any("Did you mean 'gcn'" in line for line in lines)


def test_files_are_written_as_shown(done):
    folder, _ = done
    assert r"\begin{longtable}" in (folder / "table.tex").read_text()
    assert "<html" in (folder / "report.html").read_text()
    assert {file.suffix for file in (folder / "figures").iterdir()} == {".svg", ".png", ".csv"}
    assert (folder / "clar-store" / "finals").is_dir()


def test_everything_that_can_be_called_is_called_on_the_page():
    given = {"progress", "Run", "StoreView", "Comparison", "Figure", "Figures", "Space", "Graph"}
    given |= {"Fit"}
    called = set(re.findall(r"\bct\.(\w+)\(", "".join(BLOCKS)))
    assert called == set(clar_tune.__all__) - given - {"__version__"}
