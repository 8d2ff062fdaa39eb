"""Regularizers of a user with one fault each: plain penalties, and such as change graphs."""

import random

import torch
from torch import Tensor, nn

from clar_tune.models import Adjacency, Penalty, Regularizer


class RightPenalty(nn.Module):
    """A penalty without fault, on which others are built."""

    def __init__(self, weight: float = 0.1) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return self.weight * (h[edge_index[0]] - h[edge_index[1]]).square().sum()


class Drawn(RightPenalty):
    """Another part of the edges in each epoch."""

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(h, edge_index[:, torch.rand(edge_index.shape[1]) < 0.5])


class RefusesZero(RightPenalty):
    """Without fault: no table can call it the plain backbone."""

    def __init__(self, weight: float = 0.1) -> None:
        if weight <= 0:
            raise ValueError("a weight above 0 is needed")
        super().__init__(weight)


class OnePerNode(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return self.weight * h.square().sum(1)


class PlainNumber(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> float:
        return 0.5


class MeanOverNothing(RightPenalty):
    """The mean over no edges is not a number."""

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return self.weight * (h[edge_index[0]] - h[edge_index[1]]).square().mean()


class LogOfNothing(RightPenalty):
    """An isolated node has the degree 0."""

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        degree = edge_index[1].bincount(minlength=len(h)).log()
        return self.weight * (degree[:, None] * h).sum()


class InfiniteGradient(RightPenalty):
    """The slope of a norm at 0."""

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return self.weight * (h - h).square().sum(1).sqrt().sum()


class NeedsThreeNodes(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return self.weight * h[2].square().sum()


class Detached(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(h.detach(), edge_index)


class WritesLogits(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(h.mul_(2), edge_index)


class WritesEdges(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        edge_index[1] = edge_index[0]
        return super().forward(h, edge_index)


class DrawsElsewhere(RightPenalty):
    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return random.random() * super().forward(h, edge_index)


class NoisyGradient(RightPenalty):
    """What is drawn is not seen before something is trained."""

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        value = super().forward(h, edge_index)
        if value.requires_grad:
            value.register_hook(lambda gradient: gradient * random.random())
        return value


class HasWeights(RightPenalty):
    def __init__(self, weight: float = 0.1) -> None:
        super().__init__(weight)
        self.scale = nn.Parameter(torch.ones(()))


class ActsWithoutWeight(RightPenalty):
    """The weight scales one half only."""

    def forward(self, h: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(h, edge_index) + h.square().sum()


class NeedsMore(nn.Module):
    def __init__(self, weight: float, strength: float) -> None:
        super().__init__()


class RightRegularizer(Regularizer):
    """One derived from the program's own class, without fault: a penalty, and a thinner graph."""

    has_penalty = True
    changes_epochs = True

    def penalty(
        self, h: Tensor, graph: Adjacency, draw: torch.Generator | None = None
    ) -> Penalty | None:
        value = h.square().mean()
        return Penalty(0.1 * value, ("size",), value.detach().reshape(1), (0.0, 1.0))

    def epoch_graph(self, graph: Adjacency, draw: torch.Generator) -> Adjacency:
        return graph.thinned(torch.rand(graph.pairs[1], generator=draw) < 0.5)


class NoPenaltyType(RightRegularizer):
    def penalty(self, h, graph, draw=None):
        return h.square().mean()


class NoNumberAsModule(RightRegularizer):
    def forward(self, h, edge_index):
        return h.square()


class DrawsElsewhereAsModule(RightRegularizer):
    """Only where no generator is given."""

    def penalty(self, h, graph, draw=None):
        return super().penalty(h * (1 if draw else random.random()), graph)


class HidesItsPenalty(RightRegularizer):
    has_penalty = False


class LosesATerm(RightRegularizer):
    def penalty(self, h, graph, draw=None):
        return super().penalty(h, graph, draw)._replace(names=("size", "shape"))


class KeepsGradients(RightRegularizer):
    """A term's value with a gradient keeps the whole pass in memory."""

    def penalty(self, h, graph, draw=None):
        return super().penalty(h, graph, draw)._replace(values=h.square().mean().reshape(1))


class InfiniteTerm(RightRegularizer):
    def penalty(self, h, graph, draw=None):
        return super().penalty(h, graph, draw)._replace(values=torch.tensor([float("inf")]))


class LosesANode(RightRegularizer):
    def epoch_graph(self, graph, draw):
        few = (graph.edge_index < graph.num_nodes - 1).all(0)
        return Adjacency.of(graph.edge_index[:, few], graph.num_nodes - 1)


class ReturnsEdges(RightRegularizer):
    def rewired(self, graph, logits, draw):
        return graph.edge_index


class OneWay(RightRegularizer):
    def rewired(self, graph, logits, draw):
        source, target = graph.edge_index
        return Adjacency.of(graph.edge_index[:, source < target], graph.num_nodes)


class HidesItsGraph(RightRegularizer):
    """A training without dropout would then take its own graph for all epochs."""

    changes_epochs = False


class KeepsItsGraph(RightRegularizer):
    def epoch_graph(self, graph, draw):
        return graph


class InfiniteFact(RightRegularizer):
    def facts(self, graph):
        return {"share": float("nan")}


class DrawsGraphsElsewhere(RightRegularizer):
    def epoch_graph(self, graph, draw):
        keep = [random.random() < 0.5 for _ in range(graph.pairs[1])]
        return graph.thinned(torch.tensor(keep, dtype=torch.bool))


class DrawsOnce(RightRegularizer):
    """Always the same edges."""

    def epoch_graph(self, graph, draw):
        return graph.thinned(torch.arange(graph.pairs[1]) % 2 == 0)
