"""Stands for a regularizer of the user's, which a script imports by its own name."""

from torch import nn


class Own(nn.Module):
    """Called as ``penalty(h, edge_index)``."""
