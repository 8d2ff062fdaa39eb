"""What is trained: backbones and regularizers, and a method made of both."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
