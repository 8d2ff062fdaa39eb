"""Splits that come with a graph."""

from torch import Tensor
from torch_geometric.data import Data


def split(data: Data, number: int) -> tuple[Tensor, Tensor, Tensor]:
    """The split of that number, of the masks [N] or [N, splits] of the graph."""
    masks = (data.train_mask, data.val_mask, data.test_mask)
    columns = [mask if mask.dim() == 1 else mask[:, number] for mask in masks]
    train, val, test = (column.nonzero().squeeze(1) for column in columns)
    return train, val, test
