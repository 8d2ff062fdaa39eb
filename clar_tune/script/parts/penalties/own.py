"""A regularizer of the user's."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import to_undirected

from clar_tune.script.parts.own import Own
from clar_tune.script.parts.plain import Plain


class Penalty(Plain):
    """Calls the user's module."""

    def __init__(self, edge_index: Tensor, num_nodes: int, **parameters: Any) -> None:
        super().__init__(edge_index, num_nodes)
        self.module = Own(**parameters)
        self.both = to_undirected(edge_index, num_nodes=num_nodes)

    def __call__(self, h: Tensor, draw: torch.Generator) -> Tensor:
        """The penalty of logits ``h`` [N, C]."""
        value: Tensor = self.module(h, self.both)
        return value.reshape(())
