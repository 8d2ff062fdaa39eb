"""A machine whose program was edited is named."""

import shutil
import subprocess
import sys
from pathlib import Path

import clar_tune
from clar_tune.cluster.health import CODE, examine

EXAMINED = f"from clar_tune.cluster.health import examine; print(examine().versions[{CODE!r}])"


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
