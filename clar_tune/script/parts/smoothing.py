"""The product with the matrix of GCN."""

from torch import Tensor
from torch_geometric.nn.conv.gcn_conv import gcn_norm


def smoothed(h: Tensor, edge_index: Tensor) -> Tensor:
    r""":math:`\hat A H` with :math:`\hat A = \hat D^{-1/2} (A + I) \hat D^{-1/2}`."""
    (source, target), weight = gcn_norm(edge_index, num_nodes=len(h), dtype=h.dtype)
    return h.new_zeros(h.shape).index_add(0, target, weight.unsqueeze(1) * h[source])
