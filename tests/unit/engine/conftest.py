"""Programs are compiled once for all tests of a session."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def everything_compiled_once(compiled_once: Path) -> None:
    """All tests of the engine share one cache."""
