"""A graph on a device, ready to be trained on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from clar_tune.graphs import Graph
from clar_tune.models.adjacency import Adjacency
from clar_tune.models.layers import Features
from clar_tune.models.sparse import Csr, Pattern


@dataclass(frozen=True, eq=False)
class TensorGraph:
    """The tensors of a graph, shared by every training on it in this process."""

    x: Features  # [N, F]
    adjacency: Adjacency
    labels: Tensor  # [N]
    num_outputs: int
    metric: str
    targets: Tensor | None = None  # [N, T]

    @staticmethod
    def of(graph: Graph, device: torch.device | str = "cpu") -> "TensorGraph":
        """Copy a graph's arrays to a device.

        A copy also protects arrays that other processes share from being written to.
        """
        edge_index = torch.tensor(graph.edges, device=device)
        targets = graph.targets
        return TensorGraph(
            x=_features(graph, device),
            adjacency=Adjacency.of(edge_index, graph.num_nodes),
            labels=torch.tensor(graph.labels, device=device),
            num_outputs=graph.num_outputs,
            metric=graph.metric,
            targets=None if targets is None else torch.tensor(targets, device=device),
        )

    @property
    def device(self) -> torch.device:
        """Where the graph lies."""
        return self.labels.device

    @cached_property
    def dense_x(self) -> Tensor:
        """Dense features, for models that know no others."""
        return self.x if isinstance(self.x, Tensor) else self.x.to_dense()


def _features(graph: Graph, device: torch.device | str) -> Features:
    """Sparse features stay sparse, dense ones dense."""
    features = graph.features
    if isinstance(features, np.ndarray):
        return torch.tensor(features, device=device)
    indptr, indices, values = (
        torch.tensor(array, dtype=dtype, device=device)
        for array, dtype in (
            (features.indptr, torch.int32),
            (features.indices, torch.int32),
            (features.data, torch.float32),
        )
    )
    return Csr(Pattern(indptr, indices, graph.num_features), values)
