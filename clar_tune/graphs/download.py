"""Raw files fetched into the user's cache directory, and nowhere else."""

import os
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import platformdirs

from clar_tune.errors import GraphError
from clar_tune.graphs.catalogue import Source, base_name, dataset_named

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes received and, where known, the bytes expected."""

_TIMEOUT = 30  # seconds without an answer
_BLOCK = 1 << 16


def cache_folder() -> Path:
    """Where fetched graphs are kept on this machine."""
    return Path(platformdirs.user_cache_dir("clar-tune", appauthor=False)) / "graphs"


def fetch(name: str, progress: Progress | None = None, base: str | None = None) -> Path:
    """Download what the cache lacks of a graph's files; the cache folder.

    ``base`` replaces the address that torch-geometric downloads from.
    """
    source = dataset_named(name).source
    if source is None:
        raise GraphError(f"{name} is generated: there is nothing to download.")
    folder = cache_folder() / source.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in source.files:
            if not (folder / file).is_file():
                address = f"{base or _origin(source)}/{_upstream_path(source, file)}"
                _download(address, folder / file, progress or _silent)
    except OSError as error:
        raise GraphError(
            f"{base_name(name)} could not be downloaded ({error}). Put its files into {folder}: "
            f"{', '.join(source.files)}. What works without a download: --space quickstart."
        ) from error
    return cache_folder()


def _origin(source: Source) -> str:
    from clar_tune.graphs.pyg import base_url

    return base_url(source)


def _upstream_path(source: Source, file: str) -> str:
    """Where a file lies below its origin's base address."""
    if "_split_" in file:
        return f"splits/{file}"
    if file.startswith("out1_"):
        return f"new_data/{source.upstream}/{file}"
    return f"{source.upstream}.npz" if file.endswith(".npz") else file


def _download(address: str, path: Path, progress: Progress) -> None:
    # Its own name for each process: several workers may fetch one graph at once.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        _receive(address, part, lambda done, total: progress(path.name, done, total))
        part.replace(path)
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        raise OSError(f"{address}: {error}") from error
    finally:
        part.unlink(missing_ok=True)


def _receive(address: str, part: Path, progress: Callable[[int, int | None], None]) -> None:
    with urlopen(address, timeout=_TIMEOUT) as answer, part.open("wb") as file:
        length = answer.headers["Content-Length"]
        total = int(length) if length else None
        done = 0
        while block := answer.read(_BLOCK):
            done += file.write(block)
            progress(done, total)
    # read() with a size does not notice a body that ends too soon.
    if total is not None and done != total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def _silent(file: str, done: int, total: int | None) -> None:
    """No progress."""
