"""The names that figures get, and names that stand in them."""

import hashlib
import re


def file_stem(*parts: str) -> str:
    """Parts as one safe file stem; names that lose something on the way get a hash.

    Plain names stay readable: ``texas``, ``gcn+clar``, ``layers=8`` give
    ``texas-gcn-clar-layers-8``. All others end in a hash of what they were, so that
    different parts never share a stem.
    """
    given = [part for part in parts if part]
    stem = re.sub(r"[^a-z0-9]+", "-", " ".join(given).lower()).strip("-")[:80].strip("-")
    if all(_PLAIN.fullmatch(part) for part in given) and len(" ".join(given)) <= 80:
        return stem
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{stem[:40].strip('-')}-{digest}".strip("-")


def short(text: str, most: int = 60) -> str:
    """A name fit for a line of prose: without line breaks and not longer than ``most``."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def place_name(graph: str, condition: str) -> str:
    """A graph with its condition, as people read it."""
    return short(f"{graph} ({condition})" if condition else graph)


_PLAIN = re.compile(
    r"[a-z0-9]+([-+][a-z0-9]+)*|[a-z][a-z_]*=[a-z0-9.]+(,[a-z][a-z_]*=[a-z0-9.]+)*"
)
