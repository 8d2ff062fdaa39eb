"""Names of runs."""

import re
import secrets
import string
from datetime import UTC, datetime

from clar_tune.errors import StoreError

LATEST = "latest"
"""Stands for the newest run, and names none."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")


def is_name(text: str) -> bool:
    """Whether a run can have this name."""
    return _NAME.fullmatch(text) is not None and text != LATEST


def check_name(text: str) -> None:
    """Refuse what cannot name a run."""
    if not is_name(text):
        raise StoreError(
            f"{text!r} cannot name a run. Begin with a letter from a to z, go on with "
            f"these, digits and `-`; {LATEST!r} is taken."
        )


def fresh_name(space: str) -> str:
    """``<space>-<date>-<4 letters>``."""
    letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(4))
    return f"{space}-{datetime.now(UTC):%Y%m%d}-{letters}"
