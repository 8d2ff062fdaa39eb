"""Errors of a process, which another process would not have met, and errors of a training.

A process that went bad fails everything from then on: what it was asked to do is done elsewhere,
and nobody hears of a failed trial. All else that a training raises is its result.
"""

import errno
import re
import sys
from collections.abc import Iterator
from traceback import FrameSummary, StackSummary, walk_tb

import torch

from clar_tune.errors import CannotImport

LIBRARIES = {
    *("clar_tune", "torch", "torch_geometric", "numpy", "scipy", "numba", "llvmlite"),
    *("lazy_loader", *sys.stdlib_module_names),
}
"""Modules whose lines tell a user nothing about the user's own."""

EXHAUSTED = {
    *(errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT),
    *(errno.EIO, errno.EROFS, errno.ENODEV, errno.ENXIO, errno.ESTALE),
}
"""What the operating system answers when it has nothing left or is broken, whoever asks."""

BROKEN = re.compile(
    r"\b(CUDA|HIP|XPU|cuDNN) (driver |unknown |internal )?error"
    r"|CUDA driver initialization failed|No (CUDA|HIP) GPUs are available|Found no NVIDIA driver"
    r"|can't start new thread"
)
"""What a device's libraries, and threads, say in a plain ``RuntimeError``."""

ASKED_WRONGLY = re.compile(r"_STATUS_(BAD_PARAM|INVALID_VALUE|NOT_SUPPORTED)")
"""What a device's library says when a model has asked for what it cannot do."""

OUT_OF_MEMORY = re.compile(r"out of memory|allocate memory|_STATUS_ALLOC_FAILED")
"""What devices, their libraries and torch's allocator for the CPU say in a ``RuntimeError``."""


class BrokenProcess(Exception):
    """A process that cannot be trusted with another training; its text is one line."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a training asked for more memory than there is: its parameters are to blame."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and bool(OUT_OF_MEMORY.search(str(error)))


def breaks_process(error: BaseException) -> bool:
    """Whether an error tells of its process or machine, and not of the training.

    Memory that was asked for in vain is given back, so that the process is as good as before.
    A device's error is final for a process, also where a model has caught it and raised another.
    """
    if is_out_of_memory(error):
        return False
    if any(_is_final(each) for each in _chain(error)):
        return True
    if isinstance(error, CannotImport):
        return True  # the driver could: it is missing here
    return isinstance(error, ImportError | OSError) and users_frame(error) is None


def users_frame(error: BaseException) -> FrameSummary | None:
    """The last line of the user's own that an error came through."""
    frames = [
        (frame, line)
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] not in LIBRARIES
    ]
    return StackSummary.extract(iter(frames[-1:]), lookup_lines=False)[0] if frames else None


def _is_final(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in EXHAUSTED
    if not isinstance(error, RuntimeError) or is_out_of_memory(error):
        return False
    text = str(error)
    if ASKED_WRONGLY.search(text):
        return False
    return isinstance(error, torch.AcceleratorError) or bool(BROKEN.search(text))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it was raised from or on the way of."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
