"""torch-geometric's dataset classes as a source of paths and addresses; nothing is written."""

from pathlib import Path
from typing import Any

from torch_geometric import datasets as pyg

from clar_tune.graphs.catalogue import Source
from clar_tune.graphs.readers import (
    RawGraph,
    Reader,
    read_actor,
    read_geom_gcn,
    read_heterophilous,
    read_planetoid,
    read_shchur,
)

READERS: dict[str, Reader] = {
    "Planetoid": read_planetoid,
    "Amazon": read_shchur,
    "Coauthor": read_shchur,
    "Actor": read_actor,
    "WikipediaNetwork": read_geom_gcn,
    "WebKB": read_geom_gcn,
    "HeterophilousGraphDataset": read_heterophilous,
}


def read(pyg_class: str, root: Path, name: str) -> RawGraph:
    """The graph ``name`` below ``root``, its files found by its torch-geometric class."""
    return READERS[pyg_class](raw_paths(pyg_class, root, name))


def raw_paths(pyg_class: str, root: Path, name: str) -> list[Path]:
    """The raw files that a torch-geometric class reads, in its order."""
    known = getattr(pyg, pyg_class)
    only_raw: Any = type(pyg_class, (_OnlyRaw, known), {})
    # Alone among these classes, Actor takes the graph's own folder as its root.
    opened = only_raw(str(root / name)) if known is pyg.Actor else only_raw(str(root), name)
    return [Path(path) for path in opened.raw_paths]


def base_url(source: Source) -> str:
    """Where torch-geometric downloads the files of ``source`` from."""
    known = getattr(pyg, source.pyg_class or "HeterophilousGraphDataset")
    url = known.processed_url if known is pyg.WikipediaNetwork else known.url
    return str(url).rstrip("/")


class _OnlyRaw:
    """Keeps a dataset class from downloading, and from saving dense features as ``processed``."""

    @property
    def has_download(self) -> bool:
        return False

    @property
    def has_process(self) -> bool:
        return False

    def load(self, path: str) -> None:
        """Leave out what was never processed."""
