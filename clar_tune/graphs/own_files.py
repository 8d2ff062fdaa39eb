"""Files of a user's own graphs: plain arrays in .npz, tensors or torch-geometric's Data in .pt."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from clar_tune.errors import GraphError
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.own_arrays import FIELDS, MASKS, arrays_of, own_graph
from clar_tune.graphs.readers import stored_csr

SUFFIXES = (".npz", ".pt")

ALSO = {"x": "node_features", "edge_index": "edges", "y": "node_labels"} | {
    name: f"{name}s" for name in MASKS
}
"""What files of the heterophilous benchmark call the same."""


def read_file(name: str, path: Path) -> Graph:
    """The graph in a file, called ``name``."""
    try:
        arrays = _npz(path) if path.suffix == ".npz" else _pt(path)
    except GraphError:
        raise
    # No narrower class will do: other bytes make numpy, zipfile and pickle raise anything.
    except Exception as error:
        raise GraphError(
            f"{path} is damaged or no {path.suffix} of plain arrays ({_cause(error)})."
        ) from error
    metric = arrays.pop("metric", None)
    return own_graph(name, arrays, metric if metric is None else str(metric))


def write_file(graph: Graph, path: Path) -> None:
    """A graph as :func:`read_file` reads it; features stay sparse."""
    arrays = arrays_of(graph)
    x = arrays.pop("x").tocsr()
    parts = {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": x.shape}
    arrays |= {f"x_{part}": np.asarray(array) for part, array in parts.items()}
    with path.open("wb") as file:
        np.savez_compressed(file, metric=np.array(graph.metric), **arrays)


def _npz(path: Path) -> dict[str, Any]:
    """Features may be sparse: ``x_data``, ``x_indices``, ``x_indptr`` and ``x_shape``."""
    with np.load(path, allow_pickle=False) as file:
        found: dict[str, Any] = {name: file[name] for name in FIELDS if name in file}
        for name, other in ALSO.items():
            if name not in found and other in file:
                found[name] = file[other]
        if "x" not in found and "x_data" in file:
            found["x"] = stored_csr(file, "x")
        if "metric" in file:
            found["metric"] = file["metric"].item()
        return found


def _pt(path: Path) -> dict[str, Any]:
    """A ``Data`` or a dict of tensors, saved by ``torch.save``, also in a dataset's own form."""
    # Here, because it imports torch: naming and finding graphs must stay quick.
    import torch
    from torch_geometric.data import Data

    from clar_tune.graphs.own_tensors import SAFE, tensors_of

    try:
        with torch.serialization.safe_globals(SAFE):
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        if "Unsupported global" not in str(error):  # no pickle, or cut off
            raise
        raise _unsafe(path) from error
    if isinstance(found, tuple) and len(found) > 1 and found[1] is None:
        found = found[0]  # as a dataset of one graph keeps it: beside it are no slices
    if not isinstance(found, Data | Mapping):
        raise GraphError(
            f"{path} holds a {type(found).__name__}: torch-geometric's Data is needed, or a dict "
            f"of tensors with {', '.join(FIELDS[:3])}."
        )
    return tensors_of(found)


def _unsafe(path: Path) -> GraphError:
    file = str(path)
    return GraphError(
        f"{path} holds other objects than tensors and torch-geometric's Data: to load them runs "
        "code of the file's. If you trust it, convert it once:\n"
        f"data = torch.load({file!r}, weights_only=False).to_dict()\n"
        f"torch.save({{k: v for k, v in data.items() if torch.is_tensor(v)}}, {file!r})"
    )


def _cause(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
