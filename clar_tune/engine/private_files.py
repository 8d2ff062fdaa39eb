"""Files that are believed only if nobody but this user can have written them, and none is torn.

Compiled programs are pickles: whoever writes one decides what a process does that loads it.
"""

import hashlib
import os
from pathlib import Path

SUM = 32
"""Bytes of the checksum that a file begins with."""


def is_private(folder: Path) -> bool:
    """Whether nobody else can write to a folder."""
    try:
        return _own(folder.stat())
    except OSError:
        return False


def read_private(file: Path) -> bytes | None:
    """What was written; nothing if the file is not there, not this user's alone, or damaged."""
    if not is_private(file.parent):
        return None
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as opened:
            content = opened.read() if _own(os.fstat(handle)) else b""
    except OSError:
        return None
    whole = _checksum(content[SUM:]) == content[:SUM]
    return content[SUM:] if whole else None


def write_private(file: Path, content: bytes) -> None:
    """Write under another name first: half a file is never seen, not even after a power cut."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(unfinished, flags, 0o600), "wb") as opened:
            opened.write(_checksum(content) + content)
            opened.flush()
            os.fsync(opened.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _own(facts: os.stat_result) -> bool:
    return facts.st_uid == os.getuid() and not facts.st_mode & 0o022


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
