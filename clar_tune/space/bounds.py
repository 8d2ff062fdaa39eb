"""How large a space may be.

Each bound is far above what a search can use, and low enough that any file is read, checked and
planned in two seconds: what is beyond is a slip, or meant to do harm.
"""

from clar_tune.errors import SpaceError

MOST_CHARACTERS = 100_000
"""Characters of a file; those that ship have 3,000 at most."""

MOST_BYTES = 4 * MOST_CHARACTERS
"""Bytes of a file, as UTF-8 has up to four for a character; no more are read."""

MOST_VALUES = 10_000
"""Keys and values of a file, with all that aliases and merges repeat: `all` has 328."""

DEEPEST = 32
"""Lists and mappings in each other: a space needs nine."""

LONGEST_TEXT = 2_000
"""Characters of one key or value: a description of half a page."""

LARGEST_WHOLE = 2**53
"""Beyond it floats skip whole numbers: those of samplers, of JSON, of the page."""

LARGEST_COUNT = 2**31 - 1
"""Epochs are stored in columns of 32 bits."""

LARGEST_SEED = 2**63 - 1
"""Seeds are stored in columns of 64 bits."""

LONGEST_TIMEOUT = 1e9
"""Seconds, thirty years: operating systems cannot wait for much longer."""

MOST_PARAMETERS = 200
"""Parameters of a method: TPE learns nothing about so many."""

MOST_CASES = 1_000
"""Combinations of values that a ``when`` tells apart, as configurations are counted by them."""

MOST_CHECKS = 50_000
"""Values of a method under one of its conditions, summed over both: each is tried before a run."""

MOST_CELLS = 100_000
"""Cells of a grid: the sampler holds all of them in memory."""

MOST_BUDGET = 1_000_000
"""Trials, repeats, finals or searches: ten times the trials that the store is made for."""

MOST_STUDIES = 20_000
"""Studies of a run: ten times those of the largest space that ships."""

MOST_TRAININGS = 100_000_000
"""Trainings of a run if nothing is pruned: ten times the rows that the store is made for."""


def check_trainings(count: int) -> None:
    """Refuse more trainings than a run may have."""
    remedy = "Lower trials, repeats or finals, or vary less."
    check_bound(count, MOST_TRAININGS, "trainings if nothing is pruned", remedy)


def check_studies(count: int) -> None:
    """Refuse more studies than a run may have."""
    check_bound(count, MOST_STUDIES, "studies", "Vary less, or make several runs of it.")


def check_bound(count: int, most: int, what: str, remedy: str, where: str = "") -> None:
    """Refuse more than ``most`` of something; whoever knows the place gives or adds it."""
    if count > most:
        shown = f"{count:,}" if count < 10**12 else "over 10^12"
        place = f"{where}: " if where else ""
        raise SpaceError(f"{place}{shown} {what}, and at most {most:,} are allowed. {remedy}")
