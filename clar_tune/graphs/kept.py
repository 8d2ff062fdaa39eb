"""Graphs of a user's own that are kept under a name: `clar-tune graphs add`."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import platformdirs

from clar_tune.errors import GraphError
from clar_tune.graphs.catalogue import DATASETS
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.own_arrays import arrays_of, own_graph
from clar_tune.graphs.own_files import read_file, write_file
from clar_tune.validation import NAME

FOLDER = "CLAR_TUNE_GRAPHS"
"""The variable that may say where they are kept."""


def kept_folder() -> Path:
    """$CLAR_TUNE_GRAPHS, or a folder of the user's data: caches are emptied."""
    given = os.environ.get(FOLDER)
    usual = Path(platformdirs.user_data_dir("clar-tune", appauthor=False)) / "graphs"
    return Path(given).expanduser() if given else usual


def own_name(name: str) -> None:
    """Refuse what cannot name a graph of one's own."""
    if name in DATASETS:
        raise GraphError(f"{name} is a graph of the catalogue. Choose another name.")
    if not NAME.fullmatch(name):
        raise GraphError(
            f"{name!r} cannot name a graph. Begin with a letter from a to z, go on with these, "
            "digits and `-`."
        )


def kept_names() -> list[str]:
    """The names of all graphs that are kept."""
    stems = (file.stem for file in kept_folder().glob("*.npz"))
    return sorted(stem for stem in stems if NAME.fullmatch(stem) and stem not in DATASETS)


def kept_file(name: str) -> Path | None:
    """Where a graph is kept, if it is."""
    file = kept_folder() / f"{name}.npz"
    named = NAME.fullmatch(name) is not None and name not in DATASETS
    return file if named and file.is_file() else None


def keep(name: str, found: Graph, metric: str | None = None) -> Graph:
    """Keep a raw graph under a name, perhaps with another metric; the graph as it is kept."""
    own_name(name)
    graph = own_graph(name, arrays_of(found), metric or found.metric)
    folder = kept_folder()
    file = folder / f"{graph.name}.npz"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".new-") as scratch:
            written = Path(scratch) / file.name
            write_file(graph, written)
            if read_file(graph.name, written).hash != graph.hash:
                raise GraphError(f"{graph.name} cannot be kept: it is read as another graph.")
            _put(written, file)
    except OSError as error:
        raise GraphError(f"{graph.name} cannot be kept in {folder} ({error.strerror}).") from error
    return graph


def _put(written: Path, file: Path) -> None:
    try:
        os.link(written, file)  # unlike a rename it replaces nothing
    except FileExistsError:
        raise GraphError(
            f"{file.stem} is kept already. Choose another name, or `clar-tune graphs rm "
            f"{file.stem}` first."
        ) from None


def forget(name: str) -> None:
    """Remove a kept graph; runs that were made with it stay readable."""
    file = kept_file(name)
    if file is None:
        kept = ", ".join(kept_names()) or "none"
        raise GraphError(f"no graph is kept as {name!r}. Kept are: {kept}.")
    file.unlink()
