"""Hyper-parameter search for graph neural networks with complement Laplacian regularization.

Whatever a command does, a program does::

    import clar_tune as ct

    run = ct.run("quickstart", trials=8)
    print(ct.compare(run))

The regularizers work in any training loop::

    penalty = ct.CLAR(alpha=1.0, beta=2.0)
    loss = cross_entropy(h[train], y[train]) + penalty(h, edge_index)
"""

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


class _Package(ModuleType):
    """The package, in which ``report`` is the function also after ``import clar_tune.report``."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "report" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Package
