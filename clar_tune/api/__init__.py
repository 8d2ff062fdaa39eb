"""What a Python program calls: begin runs, read them, compare them, show them.

These functions print nothing, never exit and set no signal handlers; what a user can mend is
raised as an error of ``clar_tune.errors``. Heavy libraries load when a function is called.
"""

import lazy_loader

from clar_tune.api.notebooks import expect_no_widgets

expect_no_widgets()

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
