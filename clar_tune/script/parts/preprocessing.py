"""What is done to a graph before it is trained on."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import coalesce, remove_self_loops, to_undirected


def preprocess(data: Data, undirected: bool, normalised: bool) -> Data:
    """Without self-loops and double edges, each row of X divided by its sum.

    Args:
        data: as it was read.
        undirected: whether each edge gets its reverse.
        normalised: whether rows of X are divided at all; one whose sum is 0 never is.
    """
    edges, _ = remove_self_loops(data.edge_index)
    data.edge_index = (to_undirected if undirected else coalesce)(edges, num_nodes=len(data.y))
    if normalised:
        sums = data.x.sum(dim=1, keepdim=True)
        data.x = data.x * torch.where(sums == 0, 1.0, 1.0 / sums)
    return data
