"""Hyper-parameter search for graph neural networks with complement Laplacian regularization.

The regularizers work in any training loop::

    from clar_tune import CLAR

    penalty = CLAR(alpha=1.0, beta=2.0)
    loss = cross_entropy(h[train], y[train]) + penalty(h, edge_index)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
