"""A folder that belongs to one driver, out of which every file is renamed to its place.

Whoever takes over renames the folder. From that moment on nothing of the driver before can reach
its place, wherever it was stopped: the path that it would rename from is no longer there. No lock
is held, so nobody ever waits for one.

    <parent>/<nonce>/            the folder of the driver that may write
    <parent>/<nonce>/<random>    a file on its way
"""

import errno
import os
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from clar_tune.errors import StoreError
from clar_tune.store.files import sync_folder, write_all
from clar_tune.store.stop_points import reach

_GONE = (errno.ENOENT, errno.ESTALE)


class Overtaken(StoreError):
    """The run is no longer this driver's: nothing was written."""


class OwnFolder:
    """The folder of this driver below ``parent``, once it has taken it."""

    def __init__(self, parent: Path) -> None:
        self._parent, self._own = parent, parent

    def owner(self) -> str:
        """Whose folder is there: its nonce, empty if there is none."""
        try:
            return min(os.listdir(self._parent), default="")
        except (FileNotFoundError, NotADirectoryError):
            return ""

    def take(self, owner: str, nonce: str) -> bool:
        """Take the place of an owner, or of nobody, at one stroke; false if it has changed."""
        own = self._parent / nonce
        try:
            if owner:
                os.rename(self._parent / owner, own)
            else:
                self._install(nonce)
        except OSError as error:
            # A network filesystem may repeat a request whose answer was lost.
            if not own.is_dir():
                if error.errno in (*_GONE, errno.EEXIST, errno.ENOTEMPTY):
                    return False
                raise
        self._own = own
        _empty(own)  # what the former owner had on its way
        for left in self._parent.parent.glob(f".{self._parent.name}-*"):
            shutil.rmtree(left, ignore_errors=True)  # of a driver that was killed in _install
        return True

    def _install(self, nonce: str) -> None:
        """A folder with something in it replaces nothing but an empty one."""
        beside = self._parent.with_name(f".{self._parent.name}-{nonce}")
        (beside / nonce).mkdir(parents=True)
        try:
            os.rename(beside, self._parent)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            raise

    def held(self) -> bool:
        """Does it still belong to this driver?"""
        try:
            return self._own != self._parent and stat.S_ISDIR(os.stat(self._own).st_mode)
        except OSError as error:
            if error.errno in _GONE:
                return False
            raise

    def replace(self, target: Path, data: Any, *, sync: bool) -> None:
        """Replace a file at one stroke; with ``sync`` it outlives a power cut."""
        os.close(self.open_replaced(target, data, sync=sync))
        if sync:
            sync_folder(target.parent)

    def open_replaced(self, target: Path, data: Any, *, sync: bool) -> int:
        """The file that has replaced another one, open for more; its folder is not synced yet."""
        beside = self._own / secrets.token_hex(4)
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o666)
        except OSError as error:
            raise self._refused(error) from error
        try:
            write_all(handle, data)
            if sync:
                os.fsync(handle)
            self._rename(beside, target)
        except BaseException:
            os.close(handle)
            with suppress(OSError):
                beside.unlink()
            raise
        return handle

    def remove(self, target: Path) -> None:
        """Take a file away, if it is there."""
        beside = self._own / secrets.token_hex(4)
        try:
            reach("before-removal", target)
            os.rename(target, beside)
            beside.unlink()
        except OSError as error:
            if error.errno not in _GONE or not self.held():
                raise self._refused(error) from error

    def leave(self) -> None:
        """Let others take the place."""
        if self._own == self._parent:
            return
        with suppress(OSError):
            _empty(self._own)
            self._own.rmdir()
            self._parent.rmdir()

    def _rename(self, source: Path, target: Path) -> None:
        try:
            if not target.parent.is_dir():
                self._make(target.parent)
            reach("before-rename", target)
            os.rename(source, target)
        except OSError as error:
            raise self._refused(error) from error

    def _make(self, folder: Path) -> None:
        """Make a folder, and those above it, in the way in which files are written."""
        if folder.is_dir():
            return
        self._make(folder.parent)
        fresh = self._own / secrets.token_hex(4)
        try:
            fresh.mkdir()
            os.rename(fresh, folder)
        except OSError as error:
            if not folder.is_dir():
                raise self._refused(error) from error

    def _refused(self, error: OSError) -> Exception:
        """What an error means to a driver that may have been overtaken."""
        if error.errno in _GONE and not self.held():
            return Overtaken(f"{self._own} is gone.")
        return error


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir():
            left.rmdir()
        else:
            left.unlink(missing_ok=True)
