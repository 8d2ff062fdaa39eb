"""The loop that a reader of the paper would write with torch-geometric's own parts.

Dense features, layers on ``edge_index``, ``negative_sampling`` twice per S, and penalties by
gathering both ends of each edge. It is the other side of every ratio in ``epochs.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.utils import degree, negative_sampling

from clar_tune.graphs import Graph, SearchNodes


class TwoLayers(nn.Module):
    """Two convolutions with hidden width 32; gat has 8 heads, then 1."""

    def __init__(self, backbone: str, inputs: int, outputs: int, dropout: float) -> None:
        super().__init__()
        if backbone == "gat":
            self.first: nn.Module = GATConv(inputs, 32, heads=8)
            self.second: nn.Module = GATConv(256, outputs, heads=1)
        else:
            conv = {"gcn": GCNConv, "sage": SAGEConv}[backbone]
            self.first, self.second = conv(inputs, 32), conv(32, outputs)
        self.activation = F.elu if backbone == "gat" else F.relu
        self.dropout = dropout

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Logits of all nodes."""
        x = F.dropout(x, self.dropout, self.training)
        h = self.activation(self.first(x, edge_index))
        return self.second(F.dropout(h, self.dropout, self.training), edge_index)


@dataclass(frozen=True)
class Penalty:
    """CLAR as the paper's algorithms say it, node-mean and clamp 1."""

    alpha: float
    beta: float
    samples: int

    def __call__(self, h: Tensor, edge_index: Tensor) -> Tensor:
        """The penalty of ``h`` on the graph."""
        drawn = [
            negative_sampling(edges, num_nodes=len(h))
            for _ in range(self.samples)
            for edges in (edge_index, edge_index.flip(0))
        ]
        absent = torch.cat(drawn, dim=1)
        complement, original = (energy(h, edges) for edges in (absent, edge_index))
        return self.beta * complement.clamp(0, 1) + self.alpha * original.clamp(0, 1)


def energy(h: Tensor, edge_index: Tensor) -> Tensor:
    """Weighted squared differences along directed edges, per node."""
    source, target = edge_index
    scale = degree(source, len(h)).pow(-0.5)
    scale[scale.isinf()] = 0
    weight = scale[source] * scale[target]
    difference = (h[source] - h[target]).square().sum(1)
    return (weight * difference).sum() / (2 * len(h))


def run(
    graph: Graph,
    nodes: SearchNodes,
    backbone: str,
    penalty: Penalty | None,
    dropout: float,
    report: Callable[[], bool],
) -> None:
    """Train and evaluate epoch after epoch until ``report`` says no."""
    x = torch.tensor(graph.features.toarray())
    edge_index, y = torch.tensor(graph.edges), torch.tensor(graph.labels)
    train = torch.zeros(graph.num_nodes, dtype=torch.bool)
    val = train.clone()
    train[nodes.train], val[nodes.val] = True, True
    model = TwoLayers(backbone, graph.num_features, graph.num_classes, dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    more = True
    while more:
        model.train()
        optimizer.zero_grad()
        h = model(x, edge_index)
        loss = F.cross_entropy(h[train], y[train])
        if penalty:
            loss = loss + penalty(h, edge_index)
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            h = model(x, edge_index)
            F.cross_entropy(h[val], y[val]).item()
            (h.argmax(1) == y)[val].float().mean().item()
        more = report()
