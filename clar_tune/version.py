"""Versions of the program and of the numbers it produces."""

__version__ = "0.1.0"

NUMBERS_VERSION = 4
"""Raised whenever the same specification would train to another number.

It is part of every row's key, so rows of different versions are never mixed.
"""

FIRST_WITH_ARMS = 3
"""The first version of the numbers whose winners have arms, and whose finals have floor and shift:
effects of penalties are told from it on."""
