"""torch-geometric's Data as arrays."""

from collections.abc import Mapping
from typing import Any

import scipy.sparse as sp
import torch
from torch_geometric.data import Data, Dataset
from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
from torch_geometric.data.storage import EdgeStorage, GlobalStorage, NodeStorage

from clar_tune.errors import GraphError
from clar_tune.graphs.graph import Graph
from clar_tune.graphs.own_arrays import FIELDS, arrays_of, own_graph

SAFE = [Data, DataEdgeAttr, DataTensorAttr, EdgeStorage, GlobalStorage, NodeStorage]
"""Classes of which a ``Data`` in a file consists: they hold tensors, and run no code of its."""


def graph_from(name: str, found: Any, metric: str | None = None) -> Graph:
    """The graph that a ``Data``, a dataset of one, or a ``Graph`` holds, under another name."""
    if isinstance(found, Dataset):
        if len(found) != 1:
            raise GraphError(f"{name} holds {len(found)} graphs: nodes of one are classified.")
        found = found[0]
    if isinstance(found, Graph):
        if found.targets is not None:
            raise GraphError(f"{name} has targets: graphs of your own have classes to be learned.")
        return own_graph(name, arrays_of(found), metric or found.metric)
    if not isinstance(found, Data):
        raise GraphError(
            f"{name} is a {type(found).__name__}: torch-geometric's Data, or a Graph, is needed."
        )
    return own_graph(name, tensors_of(found), metric)


def tensors_of(found: Data | Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a graph as arrays, and the metric where it is named."""
    fields = (*FIELDS, "metric")
    if isinstance(found, Data):
        given = {field: getattr(found, field, None) for field in fields}
    else:
        given = {field: found.get(field) for field in fields}
    return {field: _array(value) for field, value in given.items() if value is not None}


def _array(value: Any) -> Any:
    """A tensor as an array, a sparse one as a matrix; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    tensor = value.detach().cpu()
    if tensor.dtype == torch.bfloat16:  # numpy has none
        tensor = tensor.float()
    if tensor.layout == torch.strided:
        return tensor.numpy()
    entries = tensor.to_sparse_coo().coalesce()  # type: ignore[no-untyped-call]
    return sp.csr_array(
        (entries.values().numpy(), tuple(entries.indices().numpy())), shape=tuple(tensor.shape)
    )
