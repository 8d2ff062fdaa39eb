"""What the commands print about the stores of the documentation is what it was."""

import difflib
import re
import tarfile
from pathlib import Path

from frozen.outputs import printed

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
DIGITS = 6
"""Significant digits in which processors agree."""


def frozen_outputs() -> dict[str, str]:
    with tarfile.open(Path(__file__).with_name("outputs.tar.xz")) as archive:
        files = {member.name: archive.extractfile(member) for member in archive}
        return {name: file.read().decode() for name, file in files.items() if file}


def test_outputs_are_what_they_were(tmp_path: Path) -> None:
    frozen = frozen_outputs()
    now = dict(printed(tmp_path))
    assert now.keys() == frozen.keys()
    different = {name: _difference(frozen[name], now[name]) for name in frozen}
    told = [f"{name}\n{text}" for name, text in different.items() if text]
    assert not told, f"{len(told)} outputs differ:\n" + "\n".join(told[:5])


def _difference(frozen: str, now: str) -> str:
    if _rounded(frozen) == _rounded(now):
        return ""
    lines = difflib.unified_diff(frozen.splitlines(), now.splitlines(), "frozen", "now", n=0)
    return "\n".join(line[:300] for line in list(lines)[:20])


def _rounded(text: str) -> str:
    """Last digits of full floats depend on the processor; printed scores have few."""
    return NUMBER.sub(lambda found: f"{float(found[0]):.{DIGITS}g}", text)
