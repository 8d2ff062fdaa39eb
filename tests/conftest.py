"""What several tests start from."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import platformdirs
import pytest
import scipy.sparse as sp
from hypothesis import settings
from support.commands import Place
from support.one_ray import OneRay, one_ray

from clar_tune.graphs.graph import Graph, preprocess

os.environ.pop("COLUMNS", None)  # readline tells it to the processes of pytest-xdist
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in a shell's background ignores Ctrl-C, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine must not fail a test: examples have no time limit.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


LONGEST = (
    *("integration/test_resume", "integration/test_submission", "integration/test_placement"),
    *("frozen/test_outputs", "docs/test_readme", "integration/test_doctor"),
    *("docs/test_benchmarks", "docs/test_make", "docs/test_reproducing"),
    "integration/test_runs_end_to_end",
    *("faults/test_kills", "faults/test_s3", "cluster/test_scale", "cluster/test_cluster_guide"),
)
"""Files that take about a minute: they begin first, so that all workers end together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test by its folder (``pytest -m "not integration"``), and begin with the longest.

    Other files follow as they are found, units last, as each takes little.
    """
    for item in items:
        item.add_marker(_file_of(item).partition("/")[0])
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(
        key=lambda item: places.get(_file_of(item), len(places) + ("unit" in item.keywords))
    )


def _file_of(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).with_suffix("").as_posix()


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """All processes of a session share what they compile."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen-") else base
    folder = os.environ.get("NUMBA_CACHE_DIR") or str(shared / "compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", folder)
        yield


@pytest.fixture
def tiny_graph() -> Graph:
    """Two triangles of one class each, joined through node 3; node 7 is isolated."""
    pairs = np.array([[0, 0, 1, 2, 3, 4, 4, 5], [1, 2, 2, 3, 4, 5, 6, 6]])
    words = [
        [1, 1, 0, 0, 0],
        [1, 0, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [0, 0, 0, 1, 1],
        [0, 1, 0, 1, 1],
        [0, 0, 1, 0, 1],
        [0, 0, 0, 1, 0],
    ]
    raw = Graph(
        name="tiny",
        features=sp.csr_array(np.array(words, np.float32)),
        edges=np.concatenate([pairs, pairs[::-1]], axis=1),
        labels=np.array([0, 0, 0, 0, 1, 1, 1, 1]),
    )
    return preprocess(raw, "undirected")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The real graphs, where they are."""
    folder = os.environ.get("CLAR_TUNE_DATA")
    if not folder:
        pytest.skip("CLAR_TUNE_DATA is not set: real graphs are not here")
    return Path(folder)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for graphs, and no data folder beside it."""
    monkeypatch.delenv("CLAR_TUNE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: str(tmp_path / "cache"))
    return tmp_path / "cache" / "graphs"


@pytest.fixture(scope="session")
def shared_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneRay]:
    """One local Ray for all tests to which only a run on it matters."""
    place = Place(tmp_path_factory.mktemp("ray"))
    with one_ray(place.folder, place._environment()) as ray:
        yield ray
