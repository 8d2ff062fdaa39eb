import socket
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch_geometric.datasets as pyg

from clar_tune.errors import GraphError
from clar_tune.graphs import pyg as own_pyg
from clar_tune.graphs.catalogue import DATASETS
from clar_tune.graphs.download import _upstream_path, fetch
from clar_tune.graphs.loading import load_raw, locate
from clar_tune.graphs.pyg import _OnlyRaw, base_url

WITH_CLASS = [name for name, row in DATASETS.items() if row.source and row.source.pyg_class]


class Quiet:
    def log_message(self, *_):
        pass


class Files(Quiet, SimpleHTTPRequestHandler):
    pass


class CutShort(Quiet, BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"x" * 40)


def serving(handler) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def upstream(tmp_path) -> Path:
    """Files as the origin of geom-gcn lays them out."""
    source = DATASETS["texas"].source
    for file in source.files:
        path = tmp_path / "upstream" / _upstream_path(source, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.encode() * 5000)
    return tmp_path / "upstream"


@pytest.fixture
def server(upstream) -> Iterator[str]:
    yield from serving(partial(Files, directory=str(upstream)))


@pytest.fixture
def cut_short() -> Iterator[str]:
    yield from serving(CutShort)


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_files_arrive_in_the_cache(cache, server):
    source, seen = DATASETS["texas"].source, []
    assert fetch("texas", lambda *step: seen.append(step), server) == cache
    assert files_in(cache) == set(source.files)
    assert locate("texas") == cache
    file = source.files[0]
    assert (cache / source.folder / file).read_bytes() == file.encode() * 5000
    steps = [done for name, done, total in seen if name == file and total == 5000 * len(file)]
    assert steps == sorted(steps)
    assert steps[-1] == 5000 * len(file)


def test_files_that_are_here_are_not_fetched_again(cache, server):
    fetch("texas", base=server)
    missing = cache / "texas" / "raw" / "texas_split_0.6_0.2_3.npz"
    missing.unlink()
    seen = []
    fetch("texas", lambda file, *_: seen.append(file), server)
    assert set(seen) == {missing.name}


def test_load_downloads_what_is_nowhere(cache, server, monkeypatch):
    monkeypatch.setattr(own_pyg, "base_url", lambda source: server)
    with pytest.raises(GraphError, match="out1_node_feature_label.txt is damaged"):
        load_raw("texas")
    assert files_in(cache) == set(DATASETS["texas"].source.files)


def test_a_real_graph_loads_from_the_cache(data_folder, cache):
    raw = data_folder / "cornell_corrected" / "raw"
    (cache.parent / "upstream").mkdir(parents=True)
    (cache.parent / "upstream" / "cornell.npz").symlink_to(raw / "cornell_corrected.npz")
    for address in serving(partial(Files, directory=str(cache.parent / "upstream"))):
        fetch("cornell-corrected", base=address)
        assert load_raw("cornell-corrected").num_nodes == 183


def test_user_folders_are_never_written_to(cache, server, tmp_path, monkeypatch):
    given = tmp_path / "given"
    given.mkdir()
    monkeypatch.setenv("CLAR_TUNE_DATA", str(given))
    fetch("texas", base=server)
    assert list(given.iterdir()) == []


def check_failure(name: str, cache: Path, base: str, cause: str) -> None:
    source = DATASETS[name].source
    with pytest.raises(GraphError) as failure:
        fetch(name, base=base)
    message = str(failure.value)
    expected = (name, str(cache / source.folder), cause, "--space quickstart", *source.files)
    for part in expected:
        assert part in message
    assert "\n" not in message
    assert files_in(cache) == set()


def test_a_missing_file_upstream_is_one_error(cache, server):
    check_failure("cora", cache, server, "HTTP Error 404")


def test_a_body_that_ends_too_soon_is_one_error_and_leaves_nothing(cache, cut_short):
    check_failure("photo", cache, cut_short, "40 of 100 bytes")


def test_a_refused_connection_is_one_error(cache):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    check_failure("minesweeper", cache, address, "refused")


def test_a_cache_that_cannot_be_written_is_one_error(cache, server):
    cache.parent.mkdir()
    cache.touch()
    with pytest.raises(GraphError, match="could not be downloaded"):
        fetch("texas", base=server)


def test_generated_graphs_are_not_downloaded(cache):
    with pytest.raises(GraphError, match="generated"):
        fetch("csbm-homophily")


@pytest.mark.parametrize("name", WITH_CLASS)
def test_addresses_are_those_torch_geometric_downloads_from(name, tmp_path, monkeypatch):
    source, asked = DATASETS[name].source, []
    theirs = getattr(pyg, source.pyg_class)
    module = sys.modules[theirs.__module__]
    if name in ("cora", "citeseer", "pubmed"):
        monkeypatch.setattr(module.fs, "cp", lambda url, folder: asked.append(url))
    else:
        monkeypatch.setattr(module, "download_url", lambda url, folder: asked.append(url))
    only_raw = type("OnlyRaw", (_OnlyRaw, theirs), {})
    title = source.folder.split("/")[0]
    opened = only_raw(str(tmp_path)) if name == "actor" else only_raw(str(tmp_path), title)
    opened.download()
    ours = [f"{base_url(source)}/{_upstream_path(source, file)}" for file in source.files]
    assert ours == asked


def test_graphs_without_a_class_lie_beside_the_heterophilous_ones():
    for name, file in [
        ("chameleon-filtered", "chameleon_filtered.npz"),
        ("squirrel-filtered", "squirrel_filtered.npz"),
        ("cornell-corrected", "cornell.npz"),
    ]:
        source = DATASETS[name].source
        assert base_url(source) == pyg.HeterophilousGraphDataset.url
        assert _upstream_path(source, source.files[0]) == file
