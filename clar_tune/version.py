"""Versions of the program and of the numbers it produces."""

__version__ = "0.1.0"

NUMBERS_VERSION = 3
"""Raised whenever the same specification would train to another number.

It is part of every row's key, so rows of different versions are never mixed.
"""
