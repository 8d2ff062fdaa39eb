"""Where in a user's own files something stands, or has failed."""

import inspect
import sys
from pathlib import Path
from traceback import FrameSummary, StackSummary, walk_tb
from typing import Any

LIBRARIES = {
    *("clar_tune", "torch", "torch_geometric", "numpy", "scipy", "numba", "llvmlite"),
    *("lazy_loader", *sys.stdlib_module_names),
}
"""Modules whose lines tell a user nothing about the user's own."""


def users_frame(error: BaseException) -> FrameSummary | None:
    """The last line of the user's own that an error came through."""
    frames = [
        (frame, line)
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] not in LIBRARIES
    ]
    return StackSummary.extract(iter(frames[-1:]), lookup_lines=False)[0] if frames else None


def at_users_line(error: BaseException) -> str:
    """`` at my_models.py:12``, or nothing where an error came through no line of the user's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" at {Path(error.filename).name}:{error.lineno}"
    frame = users_frame(error)
    return f" at {Path(frame.filename).name}:{frame.lineno}" if frame else ""


def place_of_code(function: Any) -> str:
    """``my_models.py:12`` of a function that is written in Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}" if code else ""


def see(function: Any) -> str:
    """`` See my_models.py:12.``, to be put behind what is wrong with what it gave."""
    place = place_of_code(function)
    return f" See {place}." if place else ""
