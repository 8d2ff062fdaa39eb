"""One seed per purpose."""

import hashlib


def seed_for(purpose: str, *identity: str | int) -> int:
    """An independent seed per purpose: a new draw in one never shifts another."""
    text = "/".join(map(str, (purpose, *identity)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
