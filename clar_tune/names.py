"""Names of runs."""

import secrets
import string
from datetime import UTC, datetime


def fresh_name(space: str) -> str:
    """``<space>-<date>-<4 letters>``."""
    letters = "".join(secrets.choice(string.ascii_lowercase) for _ in range(4))
    return f"{space}-{datetime.now(UTC):%Y%m%d}-{letters}"
