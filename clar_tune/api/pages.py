"""The page about runs, as a file."""

from __future__ import annotations

import os
import secrets
from os import PathLike
from pathlib import Path

from clar_tune.api.comparing import distinct
from clar_tune.api.stored import Run
from clar_tune.errors import ParameterError


def report(*runs: Run, out: str | PathLike[str] = "report.html") -> Path:
    """Write one HTML page about one run, or about several that may be joined.

    It has all tables, figures, search histories and failures, and needs no network.

    Args:
        runs: What ``ct.run`` gave, or runs of ``ct.open_store``; one given twice counts once.
        out: The file; its folder must exist. A file that is there is replaced as a whole.

    Returns:
        The file.
    """
    from clar_tune.report import build_page

    file = Path(out)
    check_target(file)
    replace_file(file, build_page([run.view(curves=True) for run in distinct(runs)]))
    return file


def check_target(out: Path) -> None:
    """Refuse a file that cannot be written, before any work."""
    if out.is_dir():
        raise ParameterError(f"{out} is a folder. Name a file, such as {out / 'report.html'}.")
    if out.exists() and not out.is_file():
        raise ParameterError(f"{out} is no file. Name one, such as report.html.")
    if not out.parent.is_dir():
        raise ParameterError(f"{out}: there is no folder {out.parent}. Make it first.")
    if not os.access(out.parent, os.W_OK):
        raise ParameterError(f"{out}: the folder {out.parent} cannot be written to.")


def replace_file(out: Path, text: str) -> None:
    """Write a file as a whole: whoever reads it sees the old one or the new one."""
    target = Path(os.path.realpath(out))
    fresh = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ParameterError(f"{out} cannot be written: {error.strerror}.") from error
