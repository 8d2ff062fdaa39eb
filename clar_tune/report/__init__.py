"""One self-contained page about runs: as a file, or served while they go on."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
