"""``python -m clar_tune``."""

import os
import sys

if not sys.flags.safe_path and sys.path[0] == os.getcwd():
    # Python puts the current folder first, where a file can stand in for a library.
    del sys.path[0]

from clar_tune.cli import main  # noqa: E402

main()
