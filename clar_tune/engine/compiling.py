"""How kernels are compiled, for which processor, and where the result is kept."""

import fcntl
import hashlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import platformdirs
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

Function = TypeVar("Function", bound=Callable[..., Any])

COMMON_TARGET = "x86-64-v3"
"""What processors of the last ten years share: with ``NUMBA_CPU_NAME=x86-64-v3`` all nodes of a
mixed cluster give equal bits. It is not the default, as it costs a fifth of an epoch where there
are wider vectors (``python -m benchmarks.engines`` with and without it).
"""

SETTINGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # Freedoms of rounding alone: with `fastmath=True` a NaN would go unseen.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}


_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _choose_target() -> str:
    """The processor that numba's settings name, or this machine's."""
    if numba.config.CPU_NAME == COMMON_TARGET and numba.config.CPU_FEATURES is None:
        numba.config.CPU_FEATURES = ""  # numba would add all that this machine has besides
    return str(numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name())


TARGET = _choose_target()
"""The processor that is compiled for; numbers are equal to the last bit on equal targets."""


def kernel(function: Function) -> Function:
    """A function that programs are made of; it is compiled into each that calls it.

    Python cannot call it: what that would take costs a third of the time of compiling.
    """
    return cast(Function, numba.njit(**SETTINGS, **_INNER)(function))


@cache
def called(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that Python can call, for tests."""

    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return cast(Callable[..., Any], numba.njit(**SETTINGS)(call))


def sources() -> list[Path]:
    """The files of this package: numba itself does not notice a change in another file."""
    return sorted(Path(__file__).parent.rglob("*.py"))


def digest(files: list[Path]) -> str:
    """A name for everything that compiled code depends on."""
    features = numba.config.CPU_FEATURES
    if features is None:
        features = llvmlite.binding.get_host_cpu_features().flatten()
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
    content = hashlib.sha256("/".join((*versions, TARGET, features)).encode())
    content.update(f"/{numba.config.BOUNDSCHECK}/{numba.config.OPT}".encode())
    for file in files:
        content.update(f"/{file.name}/".encode() + file.read_bytes())
    return content.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled programs are kept on this machine; below `NUMBA_CACHE_DIR` if that is set."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    if folder:
        return Path(folder) / "clar-tune"
    return Path(platformdirs.user_cache_dir("clar-tune", appauthor=False)) / "engine"


class Program:
    """A whole training as one compiled function, loaded from the cache or compiled into it.

    ``warm`` calls the function once, with small arguments of the types that it will get.
    Compiled code is kept as a pickle, so that it is taken only from a folder that nobody else can
    write to. It is written under another name first: half a program is never seen.
    """

    def __init__(self, function: Callable[..., Any], name: str, files: list[Path]) -> None:
        self.name = name
        self.file = cache_folder() / f"{name}-{digest(files)}"
        self.call = numba.njit(**SETTINGS)(function)

    def prepare(self, warm: Callable[[Callable[..., Any]], object]) -> None:
        """Load it, or compile it: once per machine, while others wait."""
        if not self.loadable:
            with _lock(self.file) as writable:
                if not self.loadable:
                    self._compile(warm, writable)
                    return
        self.call._cache = _OneFile(self.file)
        warm(self.call)

    @property
    def loadable(self) -> bool:
        """Whether it was compiled before, into a folder that can be trusted."""
        return _private(self.file.parent) and self.file.exists()

    def _compile(self, warm: Callable[[Callable[..., Any]], object], writable: bool) -> None:
        if not writable:
            warnings.warn(
                f"{self.file.parent} cannot be written to, or others can: {self.name} is compiled "
                "anew in every process. Make it a folder that only you can write to.",
                RuntimeWarning,
                stacklevel=4,
            )
            warm(self.call)
            return
        unfinished = self.file.with_name(f"{self.file.name}.{os.getpid()}.part")
        try:
            self.call._cache = _OneFile(unfinished)
            warm(self.call)
            unfinished.replace(self.file)
        finally:
            unfinished.unlink(missing_ok=True)
        self.call._cache = _OneFile(self.file)


def may_use_cache() -> bool:
    """Whether programs can be kept: the folder is this user's alone, and can be written to."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return False
    return _private(folder) and os.access(folder, os.W_OK)


def _private(folder: Path) -> bool:
    """Whether nobody but this user can have written what a folder holds."""
    try:
        facts = folder.stat()
    except OSError:
        return False
    return facts.st_uid == os.getuid() and not facts.st_mode & 0o022


@contextmanager
def _lock(file: Path) -> Iterator[bool]:
    """Whether a file of the cache may be written; while it may, nobody else writes it.

    Each has a lock of its own: programs are compiled beside each other.
    """
    folder = file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = file.with_name(f"{file.name}.lock").open("a") if _private(folder) else None
    except OSError:
        lock = None
    if lock is None:
        yield False
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield True


class _OneFile(NullCache):  # type: ignore[misc]
    """One compiled function in one file; other types of arguments than its own are not kept."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        if not self.file.exists():
            return None
        known, content = pickle.loads(self.file.read_bytes())
        return CompileResult._rebuild(target_context, *content) if known == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not self.file.exists():
            self.file.write_bytes(serialize.dumps((sig, data._reduce())))
