"""A bucket that checks with each write that nobody else has written meanwhile."""

import hashlib
import secrets
from typing import Any

from clar_tune.errors import StoreError
from clar_tune.store.fence import Seen, lease_path, refused
from clar_tune.store.files import Files
from clar_tune.store.journal import own_folder
from clar_tune.store.objects import Changed, Objects, Version
from clar_tune.store.own_folder import Overtaken
from clar_tune.store.stop_points import reach


class BucketFence:
    """Objects are replaced only in the state in which this driver has seen them last.

    A driver that takes over writes every open object anew: whatever the former one sends later
    finds another state, or its number taken.
    """

    claims = True

    def __init__(self, files: Files, run: str, objects: Objects) -> None:
        self._files, self._objects, self._lease = files, objects, lease_path(run)
        self.folder = own_folder(files, run)
        self._versions: dict[str, Version] = {}
        self._sent: dict[str, list[bytes]] = {}

    def look(self) -> Seen:
        """The lease: it may be replaced in this state, and no other."""
        return Seen("", self.read(self._lease, anew=True))

    def take(self, seen: Seen, nonce: str, lease: bytes) -> bool:
        """Replace the lease that was seen, then take the folder on this machine.

        The folder is looked at before the lease is known to be one's own: a driver that is
        stopped in between cannot take it from a later one.
        """
        while True:
            with refused(self._files, "written", self._lease):
                owner = self.folder.owner()
            try:
                self.write(self._lease, lease)
            except Overtaken:
                return False
            with refused(self._files, "written", self._lease):
                if self.folder.take(owner, nonce):
                    return True

    def beat(self, lease: bytes) -> None:
        """As any other object."""
        self.write(self._lease, lease)

    def read(self, path: str, *, anew: bool = False) -> bytes:
        """What an object holds; from now on this state of it may be replaced, and no other."""
        with refused(self._files, "read", path):
            data, version = self._objects.get(self._files.key(path))
        known = self._versions.get(path, version)
        if not anew and version != known and _digest(data) not in self._sent.get(path, ()):
            raise Overtaken(f"{self._files.shown(path)} was written by another.")
        self._versions[path] = version
        return data

    def confirm(self) -> None:
        """The lease is in the state that is known."""
        self.read(self._lease)

    def write(self, path: str, data: Any) -> None:
        """Replace an object in the state that is known, or create it.

        An object in another state may be an earlier write of one's own whose answer was lost.
        """
        sent = self._sent.setdefault(path, [])
        sent.append(_digest(data))
        with refused(self._files, "written", path):
            reach("before-put", path)
            while True:
                try:
                    self._put(path, data)
                    break
                except Changed:
                    if self._arrived(path, sent):
                        break
        del sent[:]

    def _put(self, path: str, data: Any) -> None:
        known = self._versions.get(path, {})
        self._versions[path] = self._objects.put(self._files.key(path), data, known)

    def _arrived(self, path: str, sent: list[bytes]) -> bool:
        """Is what was sent last there? If only an earlier one is, that may be replaced now."""
        held, version = self._objects.get(self._files.key(path))
        if version == self._versions.get(path, {}):
            raise OSError(0, "the server asks for patience (CONDITIONAL_REQUEST_CONFLICT)")
        if _digest(held) not in sent:
            raise Overtaken(f"{self._files.shown(path)} was written by another.")
        self._versions[path] = version
        return _digest(held) == sent[-1]

    def end(self, lease: bytes, *, clean: bool) -> None:
        """The lease stays, released: to remove it under a condition is not possible."""
        self.write(self._lease, lease)
        self.folder.leave()


def check_conditions(files: Files, objects: Objects) -> None:
    """Fail if a bucket writes although a condition does not hold."""
    path = f".probe-{secrets.token_hex(8)}"
    key = files.key(path)
    with refused(files, "written", path):
        try:
            first = objects.put(key, b"first", {})
            kept = _keeps(objects, key, {})
            second = objects.put(key, b"second", first)
            kept = kept and _keeps(objects, key, first) and bool(second)
        except Changed:
            kept = False
        finally:
            objects.delete(key)
    if not kept:
        raise StoreError(
            f"store {files.url}: its server does not honour conditional writes (If-None-Match, "
            "If-Match), by which a driver that was overtaken is kept out. Use another one, or "
            "give --single-driver if no second driver will ever be started."
        )


def _keeps(objects: Objects, key: str, version: Version) -> bool:
    """Is a write refused whose condition does not hold?"""
    try:
        objects.put(key, b"wrong", version)
    except Changed:
        return True
    return False


def _digest(data: Any) -> bytes:
    return hashlib.sha256(data).digest()
