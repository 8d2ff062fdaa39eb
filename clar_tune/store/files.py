"""Whole files of a store: listed, read, and replaced so that nobody sees half of one."""

import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import fs

from clar_tune.errors import StoreError

if TYPE_CHECKING:
    from clar_tune.store.objects import Objects

CONNECT, REQUEST, ATTEMPTS = 3.0, 5.0, 3
"""Of buckets: seconds for a connection and for silence on one, and attempts of a request."""

FAILURES = (OSError, pa.ArrowException)
"""What a filesystem raises when it cannot do what it is asked."""

_S3_ANSWER = re.compile(
    r"AWS Error (?P<code>\w+) during \w+ operation: (?P<detail>.*?)( \(Request ID.*)?$"
)
_S3_CAUSES = {
    "NETWORK_CONNECTION": "the endpoint does not answer",
    "NO_SUCH_BUCKET": "there is no such bucket",
    "SLOW_DOWN": "the server asks for patience",
    **dict.fromkeys(
        (
            *("ACCESS_DENIED", "EXPIRED_TOKEN", "INVALID_ACCESS_KEY_ID"),
            *("INVALID_CLIENT_TOKEN_ID", "SIGNATURE_DOES_NOT_MATCH"),
        ),
        "the credentials of this environment do not allow it",
    ),
}


@dataclass(frozen=True, slots=True)
class Files:
    """Files under one folder of a filesystem; paths are relative to it."""

    filesystem: Any
    root: str
    url: str
    server: str = ""
    """What tells equal paths of two servers apart."""
    objects: "Callable[[], Objects] | None" = None
    """Opens the bucket for writes under a condition, where it knows them."""

    @property
    def local(self) -> bool:
        """Does the store lie in a directory, where files can be renamed?"""
        return isinstance(self.filesystem, fs.LocalFileSystem)

    def full(self, path: str) -> str:
        """The path as the filesystem knows it."""
        return f"{self.root}/{path}" if self.root else path

    def key(self, path: str) -> str:
        """The path as its bucket knows it."""
        return self.full(path).partition("/")[2]

    def shown(self, path: str) -> str:
        """The path as a message names it."""
        return self.full(path) if self.local else f"{self.url.partition('?')[0]}/{path}"

    def under(self, folder: str) -> list[str]:
        """Paths of all files below a folder, sorted; none if there is no such folder."""
        selector = fs.FileSelector(self.full(folder), allow_not_found=True, recursive=True)
        try:
            found = self.filesystem.get_file_info(selector)
        except FAILURES as error:
            raise self._refused("read", folder, error) from error
        if not found:
            self._check_bucket()
        start = len(self.root) + 1 if self.root else 0
        return sorted(info.path[start:] for info in found if info.type == fs.FileType.File)

    def read(self, path: str) -> bytes | None:
        """Contents of a file; none if it is not there."""
        try:
            if self.local:
                return Path(self.full(path)).read_bytes()
            with self.filesystem.open_input_file(self.full(path)) as stream:
                return bytes(stream.read())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except FAILURES as error:
            raise self._refused("read", path, error) from error

    def read_buffer(self, path: str) -> pa.Buffer:
        """Contents of a file in memory of Arrow's own; empty if it is not there.

        Arrow's threads may let go of it when Python is about to end, which memory of Python's
        does not survive: the process would be aborted.
        """
        try:
            with self.filesystem.open_input_file(self.full(path)) as stream:
                return stream.read_buffer()
        except FileNotFoundError:
            return pa.py_buffer(b"")
        except FAILURES as error:
            raise self._refused("read", path, error) from error

    def write(self, path: str, data: Any, *, sync: bool = True) -> None:
        """Replace a file at one stroke; with ``sync`` it outlives a power cut."""
        try:
            if self.local:
                replace_file(Path(self.full(path)), data, sync=sync)
            else:
                self._put(path, data)
        except FAILURES as error:
            raise self._refused("written", path, error) from error

    def delete(self, path: str) -> None:
        """Remove a file, if it is there."""
        try:
            with suppress(FileNotFoundError):
                self.filesystem.delete_file(self.full(path))
        except FAILURES as error:
            raise self._refused("removed", path, error) from error

    def _put(self, path: str, data: Any) -> None:
        try:
            stream = self.filesystem.open_output_stream(self.full(path))
        except FileNotFoundError:
            # Object stores need no folders; other filesystems do.
            self.filesystem.create_dir(os.path.dirname(self.full(path)))
            stream = self.filesystem.open_output_stream(self.full(path))
        with stream:
            stream.write(data)

    def _check_bucket(self) -> None:
        """A bucket that is not there looks as empty as one that is."""
        if self.filesystem.type_name != "s3":
            return
        bucket = self.root.partition("/")[0]
        try:
            there = self.filesystem.get_file_info(bucket).type != fs.FileType.NotFound
        except FAILURES as error:
            raise self._refused("read", "", error) from error
        if not there:
            raise StoreError(f"store {self.url}: there is no bucket {bucket!r}. Create it first.")

    def _refused(self, deed: str, path: str, error: Exception) -> StoreError:
        return StoreError(f"{self.shown(path)} cannot be {deed}: {cause_of(error)}.")


def cause_of(error: Exception) -> str:
    """Why a filesystem refused, in a few words."""
    said = getattr(error, "strerror", None) or (str(error).splitlines() or ["unknown"])[0]
    answer = _S3_ANSWER.search(said)
    if answer is None:
        return str(said).rstrip(".")
    detail = answer["detail"].rpartition("Details: ")[2].rstrip(".")
    return said_by_s3(answer["code"], detail if detail != "No response body" else "")


def said_by_s3(code: str, detail: str) -> str:
    """What an error of a server means, by its name in Amazon's library."""
    told = f"{detail}, {code}" if detail else code
    return f"{_S3_CAUSES.get(code, 'the server refuses')} ({told})"


def replace_file(path: Path, data: Any, *, sync: bool) -> None:
    """Write beside a local file, then rename over it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb", buffering=0) as stream:
            write_all(stream.fileno(), data)
            if sync:
                os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def write_all(handle: int, data: Any) -> None:
    """Write bytes, also where the system takes only some of them at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def sync_folder(path: Path) -> None:
    """Make renames in a local folder outlive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
