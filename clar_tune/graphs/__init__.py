"""Graphs: what they hold, how they are split and varied, where their files come from."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
