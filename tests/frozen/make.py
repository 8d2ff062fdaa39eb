"""Freeze what this version does: ``python tests/frozen/make.py specifications outputs …``.

Never in a commit that changes code.
"""

import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from frozen import names, old_stores, outputs, simulated_run, specifications

from clar_tune.engine import TARGET

HERE = Path(__file__).parent


def make_specifications() -> None:
    cases = specifications.cases()
    torch, native = (
        {name: specifications.trained_rows(case, engine) for name, case in cases.items()}
        for engine in ("torch", "native")
    )
    made = {"processor": specifications.processor(), "rows": torch, "target": TARGET}
    own = {name: rows for name, rows in native.items() if rows}
    _write_json("specifications.json", {**made, "native": own})


def make_simulated_run() -> None:
    _write_json("simulated_run.json", simulated_run.stored_content())


def make_outputs() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(HERE / "outputs.tar.xz", "w:xz") as archive,
    ):
        for name, text in outputs.printed(Path(folder)):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))


def make_stores() -> None:
    old_stores.make(HERE / "stores")


def make_test_ids() -> None:
    (HERE / "test_ids.txt").write_text("\n".join(names.collected()) + "\n")


def _write_json(name: str, content: Any) -> None:
    (HERE / name).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        globals()[f"make_{asked}"]()
