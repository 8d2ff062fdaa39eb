"""``python -m clar_tune``."""

from clar_tune.cli import main

main()
