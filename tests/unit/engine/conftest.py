"""Programs are compiled once for all tests of a session."""

from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of compiled programs that all test processes share."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(shared / "compiled"))
        yield shared / "compiled" / "engine"
