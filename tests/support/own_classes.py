"""Backbones and regularizers of a user: good ones, and such as cannot be built."""

import torch
from torch import nn


class OwnNetwork(nn.Module):
    """A user's own backbone, in torch-geometric's manner."""

    def __init__(self, in_features: int, out_features: int, width: int = 3) -> None:
        super().__init__()
        self.first = nn.Linear(in_features, width)
        self.second = nn.Linear(width, out_features)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        assert x.layout == torch.strided and edge_index.shape[0] == 2
        return self.second(self.first(x).relu())


class OwnPenalty(nn.Module):
    """A user's own regularizer."""

    def __init__(self, weight: float = 1.0) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, h: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.weight * (h[edge_index[0]] - h[edge_index[1]]).square().mean()


class Demanding(OwnPenalty):
    """A regularizer with a parameter that has no default."""

    def __init__(self, *, strength: float) -> None:
        super().__init__(strength)


class TakesNothing(nn.Module):
    """A backbone that no graph can give its widths to."""

    def __init__(self) -> None:
        super().__init__()


class TakesMore(nn.Module):
    """A backbone and a penalty with parameters that have no default."""

    def __init__(self, inputs: int, outputs: int, depth: int) -> None:
        super().__init__()


class HiddenBetween(OwnNetwork):
    """A backbone as torch-geometric writes its own: the hidden width stands between the others."""

    def __init__(self, in_channels: int, hidden: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels, hidden)


class ClassesFirst(OwnNetwork):
    """A backbone whose widths stand at the end, the other way round."""

    def __init__(self, width: int = 4, *, num_classes: int, inputs: int) -> None:
        super().__init__(inputs, num_classes, width)


class PassesOn(OwnNetwork):
    """A backbone that hands most of its arguments to its base."""

    def __init__(self, *sizes: int, bias: bool = True, **rest: int) -> None:
        super().__init__(*sizes, **rest)


class Cryptic(OwnNetwork):
    """A backbone that does not say which of its arguments is what."""

    def __init__(self, a: int, hidden: int, c: int) -> None:
        super().__init__(a, c, hidden)


class TwoNames(OwnNetwork):
    """A backbone with two arguments that could be the width of its output."""

    def __init__(self, in_channels: int, out_channels: int, num_classes: int) -> None:
        super().__init__(in_channels, num_classes, out_channels)


class ByPosition(OwnNetwork):
    """A backbone with an argument that cannot be named."""

    def __init__(self, depth: int, /, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features, depth)


class WithoutEdges(OwnNetwork):
    """A backbone that cannot be given edges."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x, torch.empty(2, 0))


class Reward(nn.Module):
    """A user's own penalty that is negative, and works all the same."""

    def forward(self, h: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return -0.1 * (h[edge_index[0]] - h[edge_index[1]]).square().mean()


class Silent(nn.Module):
    """A backbone with one output too few."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.layer = nn.Linear(in_features, out_features - 1)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class Nan(Silent):
    """A backbone that returns no numbers."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features + 1)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * float("nan")


class Batchnormed(Nan):
    """A backbone with buffers, which belong to the selected epoch as well."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.norm = nn.BatchNorm1d(out_features)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.norm(self.layer(x))


tiny = 3

SCRIPTED = """\
import torch
from torch import nn
from torch_geometric.nn import GCNConv

class Wide(nn.Module):
    def __init__(self, inputs, outputs, *, width=4):
        super().__init__()
        self.first, self.second = GCNConv(inputs, width), GCNConv(width, outputs)

    def forward(self, x, edge_index):
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)

class Shrink(nn.Module):
    def __init__(self, *, strength=0.01):
        super().__init__()
        self.strength = strength

    def forward(self, h, edge_index):
        return self.strength * h.square().mean()
"""
"""A module of a user's, for scripts that import it."""
