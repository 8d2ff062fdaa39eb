"""What a machine has to train with, and in what it differs from another."""

import hashlib
import os
import platform
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from clar_tune.version import __version__

SHARED = ("clar-tune", "python", "ray", "torch", "torch-geometric", "numba")
"""What all machines of a cluster must have in the same version."""

CODE = "code of clar-tune"
"""What differs if somebody has edited a file of the same version."""


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine as it sees itself."""

    host: str
    versions: Mapping[str, str]
    cpus: int
    memory: int
    """Bytes."""
    gpus: int
    """Those that torch sees."""
    cache: str
    """Why the cache folder cannot be written to; empty if it can."""


def examine() -> Machine:
    """This machine; on others of a cluster it runs as a task."""
    return Machine(
        host=socket.gethostname(),
        versions={**{package: installed(package) for package in SHARED}, CODE: _code()},
        cpus=os.cpu_count() or 1,
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        gpus=_gpus(),
        cache=unwritable_cache(),
    )


def installed(package: str) -> str:
    """The version of a package; empty if it is not there."""
    own = {"python": platform.python_version(), "clar-tune": __version__}
    if package in own:
        return own[package]
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def differences(ours: Machine, theirs: Machine) -> list[str]:
    """Versions on another machine that are not the driver's."""
    return [
        f"{package} {theirs.versions.get(package) or 'is missing'} instead of {wanted or 'none'}"
        for package, wanted in ours.versions.items()
        if theirs.versions.get(package) != wanted
    ]


def unwritable_cache() -> str:
    """Why the cache folder cannot be written to; empty if it can."""
    from clar_tune.graphs import cache_folder

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"{folder} cannot be written to ({error.strerror or error})"


def _code() -> str:
    """Names the content of the package's modules."""
    folder, digest = Path(__file__).parents[1], hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:8]


def _gpus() -> int:
    # Ray hides GPUs from a task that asks for none.
    hidden = {name: os.environ.pop(name, None) for name in _VISIBLE}
    try:
        import torch

        return torch.cuda.device_count()
    finally:
        os.environ.update({name: value for name, value in hidden.items() if value is not None})


_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
