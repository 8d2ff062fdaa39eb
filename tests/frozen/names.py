"""The names of all tests, as pytest collects them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def collected() -> list[str]:
    """Every test, as ``name[parameters]``, sorted; one that exists twice stands twice."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--ignore=tests/frozen", "tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    ids = [line for line in done.stdout.splitlines() if line.startswith("tests/")]
    return sorted(line.partition("::")[2] for line in ids)
