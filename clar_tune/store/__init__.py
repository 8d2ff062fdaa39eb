"""Where results are kept: Parquet tables, written by one driver per run, read by anyone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
