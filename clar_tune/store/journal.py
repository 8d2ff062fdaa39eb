"""The write-ahead file of a run: one line of JSON per row, there until Parquet has the row."""

import errno
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import platformdirs

from clar_tune.errors import StoreError
from clar_tune.store.files import Files, sync_folder, write_all
from clar_tune.store.own_folder import OwnFolder
from clar_tune.store.stop_points import reach

Line = tuple[str, dict[str, Any]]
"""A table and a row of it."""

Pending = dict[str, list[dict[str, Any]]]
"""Rows by table, in order of arrival."""


def wal_path(files: Files, run: str) -> Path:
    """In the store if that is a directory, otherwise in the cache folder of this machine."""
    if files.local:
        return Path(files.full(f"runs/run={run}/_wal.jsonl"))
    cache = Path(platformdirs.user_cache_dir("clar-tune", appauthor=False))
    place = f"{files.filesystem.type_name}:{files.server}{files.root}"
    return cache / "wal" / hashlib.sha256(place.encode()).hexdigest()[:16] / f"{run}.jsonl"


def own_folder(files: Files, run: str) -> OwnFolder:
    """Whose the write-ahead file is, and in a directory the whole run: it lies beside the file."""
    path = wal_path(files, run)
    return OwnFolder(path.with_name("_driver") if files.local else path.with_suffix(".driver"))


def read_wal(path: Path, only: str = "") -> tuple[str, Pending]:
    """The mark of a file and its rows (of one table); a torn last line is left out."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return "", {}
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    mark, rows = "", defaultdict(list)
    start = f'{{"table": "{only}'.encode()
    for number, line in enumerate(lines, 1):
        if only and number > 1 and not line.startswith(start):
            continue
        entry = _parsed(path, number, line)
        if "mark" in entry:
            mark = entry["mark"]
        elif not only or entry["table"] == only:
            rows[entry["table"]].append(entry["row"])
    return mark, dict(rows)


class WriteAhead:
    """The write-ahead file of a driver at work."""

    def __init__(self, path: Path, mark: str, folder: OwnFolder) -> None:
        self.path, self._mark, self._folder = path, mark, folder
        self._handle: int | None = None
        self._size = 0

    def start(self) -> None:
        """Begin an empty file; readers of the former one keep what they opened."""
        header = (json.dumps({"mark": self._mark}) + "\n").encode()
        try:
            # Not opened by its name, under which another driver's file may lie by now.
            handle = self._folder.open_replaced(self.path, header, sync=True)
            self._close()
            self._handle, self._size = handle, len(header)
            sync_folder(self.path.parent)
        except OSError as error:
            raise self._refused(error) from error

    def is_own(self) -> bool:
        """Does the path still lead to the file that was started here, with all that it got?

        A driver that takes over renames the folder first and begins a file of its own later; a
        store may be moved away, a file cut.
        """
        handle = self._opened()
        try:
            own = os.fstat(handle)
            whole = own.st_size == self._size and os.path.samestat(own, os.stat(self.path))
            return whole and self._folder.held()
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ESTALE):
                return False
            raise self._refused(error) from error

    def append(self, lines: Sequence[Line]) -> None:
        """Add rows, all or none; they are on the disk when this returns.

        They are safe once ``is_own`` has been asked after that: who takes over takes the folder
        first and reads the file afterwards, and so finds every row that was there before.
        """
        handle = self._opened()
        texts = [f'{{"table": "{table}", "row": {json.dumps(row)}}}\n' for table, row in lines]
        data = "".join(texts).encode()
        size = os.fstat(handle).st_size
        try:
            write_all(handle, data)
            os.fdatasync(handle)
        except OSError as error:
            os.ftruncate(handle, size)
            raise self._refused(error) from error
        self._size += len(data)
        reach("after-append", self.path)

    def remove(self) -> None:
        """The rows are all in Parquet, and the run is over; the file of another driver stays."""
        with suppress(OSError, StoreError):
            if self.is_own():
                self._folder.remove(self.path)
        self._close()

    def _opened(self) -> int:
        if self._handle is None:
            raise StoreError(f"{self.path}: the run is closed.")
        return self._handle

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
        self._handle = None

    def _refused(self, error: OSError) -> StoreError:
        return StoreError(
            f"{self.path} cannot be written: {error.strerror}. "
            "What was stored before is safe; mend the cause, then resume the run."
        )


def _parsed(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        if not isinstance(entry, dict) or not {"mark", "table"} & entry.keys():
            raise ValueError
    except ValueError as error:
        raise StoreError(
            f"{path}, line {number}: not a row of this store. Mend or remove the line."
        ) from error
    return entry
