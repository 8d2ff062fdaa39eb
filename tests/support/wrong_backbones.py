"""Backbones of a user with one fault each, none of which a search could live with."""

import random

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv


class Right(nn.Module):
    """A backbone without fault, on which the others are built."""

    def __init__(self, inputs: int, outputs: int, hidden: int = 8, dropout: float = 0.0) -> None:
        super().__init__()
        self.first, self.last = GCNConv(inputs, hidden), GCNConv(hidden, outputs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(self.dropout(x), edge_index).relu()
        return self.last(self.dropout(h), edge_index)


class TooFewOutputs(Right):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs - 1 or 2)


class Squeezes(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index).squeeze(-1)


class ReturnsAPair(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        return super().forward(x, edge_index), x


class DividesByDegree(Right):
    """Not a number where a node has no edge."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degree = edge_index[1].bincount(minlength=len(x))
        return super().forward(x, edge_index) / (degree > 0)[:, None]


class NanInEvaluation(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) * (1.0 if self.training else float("nan"))


class InfiniteGradients(Right):
    """The root of 0 has an infinite slope."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return (super().forward(x, edge_index) ** 2 * 0).sqrt()


class Constant(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index).detach()


class NeedsEdges(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) + 0 * edge_index.max()


class Weightless(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x[:, : self.outputs].clone().requires_grad_()


class ForgetsALayer(Right):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.unused = nn.Linear(2, 2)


class MisspellsNoDecay(Right):
    no_decay = ("gama",)


class RandomInEvaluation(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(nn.functional.dropout(x, 0.5, training=True), edge_index)


class WritesFeatures(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x.relu_(), edge_index)


class WritesEdges(Right):
    """Turns the edges around in place."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edge_index.copy_(edge_index.flip(0))
        return super().forward(x, edge_index)


class WritesInEvaluation(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x if self.training else x.relu_(), edge_index)


class DrawsWeightsElsewhere(Right):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.last.bias.data.fill_(random.random())


class DrawsDropoutElsewhere(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x * (random.random() if self.training else 1), edge_index)


class NoisyGradients(Right):
    """What is drawn is not seen before something is trained."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits = super().forward(x, edge_index)
        if logits.requires_grad:
            logits.register_hook(lambda gradient: gradient * random.random())
        return logits


class IgnoresDropout(Right):
    def __init__(self, inputs: int, outputs: int, dropout: float = 0.0) -> None:
        super().__init__(inputs, outputs)


class KeepsEdges(Right):
    def __init__(self, inputs: int, outputs: int, hidden: int = 8) -> None:
        super().__init__(inputs, outputs, hidden)
        self.first = GCNConv(inputs, hidden, cached=True)


class LearnsOutsideItsState(Right):
    """A running mean that is no buffer stays what it was in the last epoch, not the best."""

    mean: Tensor | float = 0.0

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits = super().forward(x, edge_index)
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * logits.detach().mean(0)
        return logits - self.mean


class HasALazyLayer(Right):
    """Its weights do not exist when the optimiser is made."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.skip = nn.LazyLinear(outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) + self.skip(x)


class KnowsNumbersOfNodes(Right):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) + torch.arange(len(x))[:, None]


class TakesNoWidths(nn.Module):
    def __init__(self) -> None:
        super().__init__()
