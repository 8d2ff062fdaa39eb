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
    """A backbone and a penalty with a parameter that neither a graph nor a space can give."""

    def __init__(self, inputs: int, outputs: int, depth: int) -> None:
        super().__init__()


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
