"""What the kernel of a notebook needs before large libraries are imported."""

import logging
import sys
import warnings
from importlib import import_module


def expect_no_widgets() -> None:
    """Keep libraries from asking for a notebook's widgets, which nothing here shows.

    Optuna loads tqdm, which warns when it is imported; Ray says it when a run begins.
    """
    if "ipykernel" in sys.modules:
        logging.getLogger("ray.widgets.util").setLevel(logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module("tqdm.auto")
