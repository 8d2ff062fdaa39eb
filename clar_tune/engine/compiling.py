"""How kernels are compiled, for which processor, and where the result is kept."""

import fcntl
import hashlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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

from clar_tune.engine.private_files import is_private, read_private, write_private

Function = TypeVar("Function", bound=Callable[..., Any])

COMMON_TARGET = "x86-64-v3"
"""What processors of the last ten years share: with ``NUMBA_CPU_NAME=x86-64-v3`` all nodes of a
mixed cluster give equal bits. It is not the default, as it costs a fifth of an epoch where there
are wider vectors (``python -m benchmarks.engines`` with and without it).
"""

COMMON_FEATURES = ("avx2", "fma", "bmi2", "lzcnt", "movbe")
"""By these a processor is one of them."""

FREEDOMS = ("contract", "reassoc", "nsz", "arcp")
"""Of rounding alone: with `fastmath=True` a NaN would go unseen."""

SETTINGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",  # a quotient by zero is infinite, and is seen as such
    "fastmath": set(FREEDOMS),
}


_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _choose_target() -> str:
    """The processor that numba's settings name, or this machine's.

    Numba's own settings are changed where the common one is asked for, for the whole process. A
    machine below it compiles for itself.
    """
    config, host = numba.config, llvmlite.binding.get_host_cpu_features()
    if config.CPU_NAME == COMMON_TARGET and config.CPU_FEATURES is None:
        if all(host.get(feature) for feature in COMMON_FEATURES):
            config.CPU_FEATURES = ""  # numba would add all that this machine has besides
        else:
            config.CPU_NAME = None
    name = str(config.CPU_NAME or llvmlite.binding.get_host_cpu_name())
    if not _features():
        return name
    return f"{name}-{hashlib.sha256(_features().encode()).hexdigest()[:4]}"


def _features() -> str:
    """What is compiled for besides what the name of a processor says."""
    chosen = numba.config.CPU_FEATURES
    if chosen is None:
        return str(llvmlite.binding.get_host_cpu_features().flatten())
    return str(chosen)


TARGET = _choose_target()
"""The processor that is compiled for; numbers are equal to the last bit on equal targets.

Its name and, as virtual machines hide some, a hash of its features.
"""


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


def digest(files: list[Path]) -> str:
    """A name for everything that compiled code depends on."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)
    content = hashlib.sha256("/".join((*versions, TARGET, _features())).encode())
    content.update(f"/{numba.config.BOUNDSCHECK}/{numba.config.OPT}".encode())
    for file in files:
        content.update(f"/{file.name}/".encode() + file.read_bytes())
    return content.hexdigest()[:16]


class Sources:
    """The files that programs are made of, as they were before they were imported.

    Numba itself does not notice a change in another file than a function's own.
    """

    def __init__(self, files: list[Path]) -> None:
        self.files, self.digest = files, digest(files)

    @property
    def unchanged(self) -> bool:
        """Whether they are what this process has imported."""
        return digest(self.files) == self.digest


SOURCES = Sources(sorted(Path(__file__).parent.rglob("*.py")))
"""Those of this package; this module is imported before any kernel."""


def cache_folder(chosen: str | None = None) -> Path:
    """Where compiled programs are kept on this machine; below `NUMBA_CACHE_DIR` if that is set."""
    folder = chosen or os.environ.get("NUMBA_CACHE_DIR")
    if folder:
        return Path(folder) / "clar-tune"
    return Path(platformdirs.user_cache_dir("clar-tune", appauthor=False)) / "engine"


def may_use_cache() -> bool:
    """Whether programs can be kept: the folder is this user's alone, and can be written to."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return False
    return is_private(folder) and os.access(folder, os.W_OK)


Warm = Callable[[Callable[..., Any]], object]


class Program:
    """A whole training as one compiled function, loaded from the cache or compiled into it.

    ``warm`` calls the function once, with small arguments of the types that it will get. Where it
    is loaded it is one piece of code. Where it is compiled its kernels are there twice, also on
    their own, and calls go to those, which LLVM optimised apart: their last digits differ. So a
    process that trains never compiles.
    """

    def __init__(self, function: Callable[..., Any], name: str, sources: Sources) -> None:
        self.name, self.sources = name, sources
        self.file = cache_folder() / f"{name}-{sources.digest}"
        self.call = numba.njit(**SETTINGS)(function)

    def prepare(self, warm: Warm) -> None:
        """Load it, or compile it: once per machine, while others wait."""
        if self.load(warm):
            return
        with _lock(self.file) as writable:
            if not self.load(warm):
                self._compile(warm, writable)

    @property
    def loadable(self) -> bool:
        """Whether it was compiled before, and can be trusted."""
        return read_private(self.file) is not None

    def load(self, warm: Warm) -> bool:
        """Take it from the cache, if it is there."""
        content = read_private(self.file)
        if content is not None:
            self.call._cache = _Kept(content)
            warm(self.call)
        return content is not None

    def _compile(self, warm: Warm, writable: bool) -> None:
        self.call._cache = made = _Kept(None)
        warm(self.call)
        try:
            if not writable:
                raise PermissionError
            # Sources that were edited since are not those that were compiled.
            if made.content is not None and self.sources.unchanged:
                write_private(self.file, made.content)
        except OSError:
            warn_of_cache(self.name)


def warn_of_cache(name: str) -> None:
    """Say that a program could not be kept."""
    warnings.warn(
        f"{cache_folder()} cannot be written to, or others can: {name} is compiled anew in every "
        "process. Make it a folder that only you can write to.",
        RuntimeWarning,
        stacklevel=5,
    )


@contextmanager
def _lock(file: Path) -> Iterator[bool]:
    """Whether a file of the cache may be written; while it may, nobody else writes it.

    Each has a lock of its own: programs are compiled beside each other.
    """
    folder = file.parent
    with ExitStack() as held:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            may = is_private(folder)
            if may:
                lock = held.enter_context(file.with_name(f"{file.name}.lock").open("a"))
                fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # some shared file systems have no locks
            may = False
        yield may


class _Kept(NullCache):  # type: ignore[misc]
    """One compiled function as bytes; other types of arguments than its own are not kept."""

    def __init__(self, content: bytes | None) -> None:
        self.content = content

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        if self.content is None:
            return None
        known, made = pickle.loads(self.content)
        return CompileResult._rebuild(target_context, *made) if known == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        if self.content is None:
            self.content = serialize.dumps((sig, data._reduce()))
