"""Graphs that torch-geometric has a class for."""

from pathlib import Path

from torch_geometric import datasets
from torch_geometric.data import Data


def read_graph(folder: str, kind: str, name: str) -> Data:
    """The graph as torch-geometric's class of that name reads it, downloaded if it is not there.

    Alone among these classes, Actor takes the graph's own folder as its root.
    """
    dataset = getattr(datasets, kind)
    data: Data = (dataset(str(Path(folder) / name)) if kind == "Actor" else dataset(folder, name))[
        0
    ]
    return data
