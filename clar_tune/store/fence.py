"""Who may write into a run: one driver, whatever another one believes that was stopped meanwhile.

A fence lets through what the holder of a run writes, and refuses it from the moment on at which
another driver has taken the run: by conditions that the file system or the bucket itself checks
with the write, not by a look before it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from clar_tune.errors import StoreError
from clar_tune.store.files import FAILURES, Files, cause_of
from clar_tune.store.journal import own_folder
from clar_tune.store.own_folder import Overtaken, OwnFolder


class Seen(NamedTuple):
    """What one look at a run tells about its driver."""

    owner: str
    """Whose folder is there; empty if nobody's is, or if there are no such folders."""
    lease: bytes


class Fence(Protocol):
    """Writes into one run."""

    folder: OwnFolder
    """Out of which the write-ahead file comes, on this machine."""
    claims: bool
    """Must a driver that takes over write every open file anew, to shut the former one out?"""

    def look(self) -> Seen:
        """Who has the run."""

    def take(self, seen: Seen, nonce: str, lease: bytes) -> bool:
        """Take the run at one stroke, if it still is as it was seen."""

    def beat(self, lease: bytes) -> None:
        """Write the lease anew; one that is gone is not made again."""

    def read(self, path: str, *, anew: bool = False) -> bytes:
        """What a file of the run holds, empty if it is not there.

        Only the state that was read first is replaced, or one that was read ``anew``.
        """

    def confirm(self) -> None:
        """Fail if the run is another's."""

    def write(self, path: str, data: Any) -> None:
        """Replace a file of the run, or create it."""

    def end(self, lease: bytes, *, clean: bool) -> None:
        """Let the run go, with a last word."""


def lease_path(run: str) -> str:
    """Where the lease of a run lies in the store."""
    return f"runs/run={run}/_lease.json"


class DirectoryFence:
    """Files reach a directory by renames out of a folder that whoever takes over renames."""

    claims = False

    def __init__(self, files: Files, run: str) -> None:
        self._files, self._lease = files, lease_path(run)
        self.folder = own_folder(files, run)
        self._nonce = ""

    def look(self) -> Seen:
        """The folder first: who takes it later is refused by its name."""
        with refused(self._files, "read", self._lease):
            owner = self.folder.owner()
        return Seen(owner, self._files.read(self._lease) or b"")

    def take(self, seen: Seen, nonce: str, lease: bytes) -> bool:
        """Rename the folder, then say who one is."""
        with refused(self._files, "written", self._lease):
            if not self.folder.take(seen.owner, nonce):
                return False
        self._nonce = nonce
        try:
            self._replace(self._lease, lease, sync=False)
        except Overtaken:
            return False
        except StoreError:
            self.folder.leave()
            raise
        return True

    def confirm(self) -> None:
        """A lease that is gone, or another's, shows that the run was taken or moved."""
        held = self._files.read(self._lease)
        if held is None or (held and self._nonce.encode() not in held):
            raise Overtaken("the lease is gone.")

    def beat(self, lease: bytes) -> None:
        """After a look at what is there."""
        self.confirm()
        self._replace(self._lease, lease, sync=False)

    def read(self, path: str, *, anew: bool = False) -> bytes:
        """Nothing needs to be remembered."""
        return self._files.read(path) or b""

    def write(self, path: str, data: Any) -> None:
        """Through the folder, and onto the disk."""
        self._replace(path, data, sync=True)

    def end(self, lease: bytes, *, clean: bool) -> None:
        """After a clean end nothing of the lease remains."""
        self.confirm()
        if clean:
            with refused(self._files, "removed", self._lease):
                self.folder.remove(Path(self._files.full(self._lease)))
        else:
            self._replace(self._lease, lease, sync=False)
        self.folder.leave()

    def _replace(self, path: str, data: Any, *, sync: bool) -> None:
        with refused(self._files, "written", path):
            self.folder.replace(Path(self._files.full(path)), data, sync=sync)


class PlainFence:
    """For a filesystem without conditions, where the user vouches that there is one driver.

    It looks at the lease before it writes; a driver that is stopped in between is not stopped.
    """

    claims = False

    def __init__(self, files: Files, run: str, settle: float) -> None:
        self._files, self._lease, self._settle = files, lease_path(run), settle
        self.folder = own_folder(files, run)
        self._nonce = ""

    def look(self) -> Seen:
        """The lease is all that there is."""
        lease = self._files.read(self._lease) or b""
        return Seen("", lease)

    def take(self, seen: Seen, nonce: str, lease: bytes) -> bool:
        """Write the lease, and look after a while whether somebody else did so, too."""
        self._nonce = nonce
        self._files.write(self._lease, lease)
        time.sleep(self._settle)
        if nonce.encode() not in (self._files.read(self._lease) or nonce.encode()):
            return False
        self.confirm()  # a claim that is gone is no claim
        with refused(self._files, "written", self._lease):
            while not self.folder.take(self.folder.owner(), nonce):
                pass
        return True

    def beat(self, lease: bytes) -> None:
        """After a look at what is there."""
        self.confirm()
        self._files.write(self._lease, lease)

    def read(self, path: str, *, anew: bool = False) -> bytes:
        """Nothing needs to be remembered."""
        return self._files.read(path) or b""

    def write(self, path: str, data: Any) -> None:
        """After a look at the lease."""
        self.confirm()
        self._files.write(path, data)

    def end(self, lease: bytes, *, clean: bool) -> None:
        """After a clean end nothing of the lease remains."""
        self.confirm()
        if clean:
            self._files.delete(self._lease)
        else:
            self._files.write(self._lease, lease)
        self.folder.leave()

    def confirm(self) -> None:
        """Look at the lease."""
        held = self._files.read(self._lease)
        if held is None or (held and self._nonce.encode() not in held):
            raise Overtaken("the lease is gone.")


@contextmanager
def refused(files: Files, deed: str, path: str) -> Iterator[None]:
    """Errors of the system in one line."""
    try:
        yield
    except FAILURES as error:
        raise StoreError(f"{files.shown(path)} cannot be {deed}: {cause_of(error)}.") from error
