"""Whole trainings as compiled programs; numba is loaded with the first of these names."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
