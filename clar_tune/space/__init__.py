"""Spaces: YAML files that say what is searched, how it is trained and how it is confirmed."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
