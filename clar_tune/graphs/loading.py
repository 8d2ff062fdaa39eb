"""Graphs by name: found, read, checked against their hash, preprocessed."""

import os
from dataclasses import replace
from pathlib import Path

from clar_tune.errors import GraphError
from clar_tune.graphs.block_models import generate
from clar_tune.graphs.catalogue import DATASETS, Facts, Source, base_name, dataset_named
from clar_tune.graphs.download import Progress, cache_folder, fetch
from clar_tune.graphs.graph import Graph, preprocess
from clar_tune.graphs.readers import RawGraph, read_heterophilous

__all__ = ["DATASETS", "facts_of", "load", "load_raw", "locate"]

_SUFFIX = 8  # digits of the hash in NAME@hash


def load(
    name: str,
    preprocessing: str = "undirected",
    data: Path | None = None,
    progress: Progress | None = None,
) -> Graph:
    """The graph called ``name``, ready for training; see ``load_raw``."""
    return preprocess(load_raw(name, data, progress), preprocessing)


def load_raw(name: str, data: Path | None = None, progress: Progress | None = None) -> Graph:
    """The graph as torch-geometric loads it; downloaded if it is nowhere on this machine.

    ``NAME@hash``, with the first 8 digits of a content hash, is another version of the files
    of ``NAME``.
    """
    dataset = dataset_named(name)
    if dataset.source is None:
        graph, place = replace(generate(base_name(name)), name=name), "generated"
    else:
        root = locate(name, data) or fetch(name, progress)
        raw, place = _read(dataset.source, root), str(root / dataset.source.folder)
        graph = Graph(name, *raw[:3], metric=dataset.metric, fixed=raw.fixed)
    _check_hash(name, graph.hash, place)
    return graph


def locate(name: str, data: Path | None = None) -> Path | None:
    """The data folder that holds a graph: ``data``, $CLAR_TUNE_DATA or the cache.

    A user's folder counts as soon as the graph's own folder is in it, so that a missing file
    is an error and not a reason to download; the cache counts when it is complete.
    """
    source = dataset_named(name).source
    if source is None:
        return None
    for folder in _given_folders(data):
        if (folder / source.folder).is_dir():
            return folder
    cache = cache_folder()
    complete = all((cache / source.folder / file).is_file() for file in source.files)
    return cache if complete else None


def facts_of(graph: Graph) -> Facts:
    """What a raw graph contains, comparable to its row in the table."""
    return Facts(
        graph.num_nodes,
        graph.edges.shape[1],
        graph.num_features,
        graph.num_classes,
        round(graph.homophily, 3),
        graph.hash,
    )


def _given_folders(data: Path | None) -> list[Path]:
    named = {"--data": data, "$CLAR_TUNE_DATA": os.environ.get("CLAR_TUNE_DATA")}
    folders = {origin: Path(folder).expanduser() for origin, folder in named.items() if folder}
    for origin, folder in folders.items():
        if not folder.is_dir():
            raise GraphError(f"{origin}: there is no folder {folder}.")
    return list(folders.values())


def _read(source: Source, root: Path) -> RawGraph:
    if source.pyg_class is None:
        return read_heterophilous([root / source.folder / file for file in source.files])
    # Here, because it imports torch: naming and finding graphs must stay quick.
    from clar_tune.graphs.pyg import read

    return read(source.pyg_class, root, source.folder.partition("/")[0])


def _check_hash(name: str, found: str, place: str) -> None:
    base, at, version = name.partition("@")
    expected = version if at else DATASETS[base].facts.hash
    if expected == (found[:_SUFFIX] if at else found):
        return
    raise GraphError(
        f"{name} ({place}) has the hash {found}, expected {expected!r}: it is damaged or another "
        "version. Replace its files, move the folder away to download them, or use this version "
        f"under its own name: {base}@{found[:_SUFFIX]}."
    )
