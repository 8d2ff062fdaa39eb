"""Hyper-parameter search for graph neural networks with complement Laplacian regularization.

The regularizers work in any training loop::

    from clar_tune import CLAR

    penalty = CLAR(alpha=1.0, beta=2.0)
    loss = cross_entropy(h[train], y[train]) + penalty(h, edge_index)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from clar_tune.version import __version__

if TYPE_CHECKING:
    from clar_tune.models.regularizers import CLAR, NL, MadReg, PReg

__all__ = ["CLAR", "NL", "MadReg", "PReg", "__version__"]


def __getattr__(name: str) -> Any:
    # The command line imports this package too, and must not wait for torch.
    if name in __all__:
        return getattr(import_module("clar_tune.models.regularizers"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
