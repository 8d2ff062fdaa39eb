"""Does a device train as a CPU does? Checks for a search to trust it; knows no Ray."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
