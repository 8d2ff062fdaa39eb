"""Graphs and spaces by their names."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clar_tune.graphs import Graph
    from clar_tune.space import Given, Space


def load_graph(
    name: str, *, preprocessing: str = "undirected", data: str | PathLike[str] | None = None
) -> Graph:
    """A graph as trainings get it: loaded, checked against its hash, preprocessed.

    Args:
        name: As in spaces and commands: ``cora``, ``csbm-heterophily`` …
        preprocessing: ``undirected``, or ``released`` as the code released with the paper does.
        data: Folder with raw graphs; by default ``$CLAR_TUNE_DATA``, then the user's cache,
            into which a graph that is nowhere is downloaded.
    """
    from clar_tune.graphs import load

    return load(name, preprocessing, None if data is None else Path(data))


def load_space(space: Given, *, name: str = "own") -> Space:
    """A space, checked; classes that it names by import path are imported.

    Args:
        space: Name of a shipped space, a YAML file, the text of one (of more than one line), or
            its content as a dictionary.
        name: What a space is called that comes without a file; its runs are named after it.
    """
    from clar_tune.space import space_from

    return space_from(space, name)
