"""Results are read where neither torch nor Ray can be imported, and in little memory."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import ROOT

CODE = """
import sys
from pathlib import Path

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "torch_geometric", "ray"):
            raise ImportError(f"{name} must not be imported here")

sys.meta_path.insert(0, Refuse())
import clar_tune.analysis, clar_tune.report
from clar_tune.cli import main

try:
    main(sys.argv[1:])
finally:
    # Not by getrusage, which counts the process that this one was started from too.
    print(Path("/proc/self/status").read_text(), file=sys.stderr)
"""
STUDY = ("--graph", "texas", "--method", "gcn+clar")


def read(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CODE, *words, "--store", "docs/results"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("show", "heterophily"),
        ("compare", "--run", "heterophily", "--run", "homophily"),
        ("compare", "--run", "heterophily", "--format", "latex"),
        ("best", "--run", "heterophily", *STUDY),
        ("query", "SELECT count(*) FROM finals"),
    ],
    ids=lambda words: " ".join(words[:1]),
)
def test_results_are_printed(words: tuple[str, ...]) -> None:
    done = read(*words)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_report_and_an_export_are_written(tmp_path: Path) -> None:
    page, journal = tmp_path / "page.html", tmp_path / "run.log"
    assert read("report", "--run", "homophily-paper", "--out", str(page)).returncode == 0
    assert "homophily-paper" in page.read_text()
    assert read("export", "--run", "homophily-paper", "--optuna", str(journal)).returncode == 0
    assert journal.stat().st_size


def test_show_takes_less_than_200_megabytes() -> None:
    done = read("show", "heterophily")
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", done.stderr)
    assert int(peak) < 200 * 1024
