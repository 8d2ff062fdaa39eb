"""The decisions of a run: what is tried, pruned and confirmed. Knows no Ray, no files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
