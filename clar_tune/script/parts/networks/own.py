"""Stands for a backbone of the user's, which a script imports by its own name."""

from typing import Any

from torch import nn


class Network(nn.Module):
    """Built from the widths of input and output, called as ``network(x, edge_index)``."""

    def __init__(self, inputs: int, outputs: int, **parameters: Any) -> None:
        super().__init__()
