"""Errors that a user can cause and mend; each prints as one line.

ClarTuneError
├── UnknownName        a name that is not among the allowed ones
├── ParameterError     a parameter with a value it cannot have
│   └── CannotImport   a class of the user's that Python does not find or cannot load
├── SpaceError         a space that cannot be searched
├── GraphError         a graph that is missing, damaged, or not the one expected
├── StoreError         a store that cannot be read or written
├── ClusterError       a Ray cluster that does not answer or cannot hold a trial
├── QueryError         a query that is not allowed or not SQL
└── TrainingError      a training that cannot give a number
    ├── Diverged       a loss or an output that is not finite
    ├── Stopped        a training that was ended from outside
    └── WrongShape     a model whose output does not fit the graph
"""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_NAME = 100
"""Longer names are no slips of the keyboard, and take long to compare."""

LONGEST_LIST = 1_000
"""Characters of the names that are allowed: a sweep may have thousands of values."""

LONGEST_REFUSAL = 1_000
"""Characters of what is said about a space; texts of its file can be longer."""


class ClarTuneError(Exception):
    """Base of every expected failure: shown as one line, without a traceback."""


class UnknownName(ClarTuneError):
    """A name that is not among the allowed ones; the message lists those and the nearest."""

    def __init__(self, kind: str, given: str, allowed: Iterable[str]) -> None:
        names = sorted(allowed)
        close = get_close_matches(given, names, n=1) if len(given) <= LONGEST_NAME else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(names)
        if len(listed) > LONGEST_LIST:
            listed = f"{listed[:LONGEST_LIST]} …"
        super().__init__(f"unknown {kind} {given!r}.{hint} Allowed: {listed}.")


class ParameterError(ClarTuneError):
    """A parameter with a value it cannot have."""


class CannotImport(ParameterError):
    """A class of the user's that Python does not find or cannot load."""


class SpaceError(ClarTuneError):
    """A space that cannot be searched; whatever its file holds, the message is one short line."""

    def __init__(self, problem: str) -> None:
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in problem)
        half = LONGEST_REFUSAL // 2
        short = len(line) <= LONGEST_REFUSAL
        super().__init__(line if short else f"{line[:half]} … {line[-half:]}")


class GraphError(ClarTuneError):
    """A graph that is missing, damaged, or not the one expected."""


class StoreError(ClarTuneError):
    """A store that cannot be read or written."""


class QueryError(ClarTuneError):
    """A query that is not allowed or not SQL."""


class ClusterError(ClarTuneError):
    """A Ray cluster that does not answer, or cannot hold a trial."""


class TrainingError(ClarTuneError):
    """A training that cannot give a number."""


class Diverged(TrainingError):
    """A loss or an output that is not finite."""


class Stopped(TrainingError):
    """A training that was ended from outside: by an interrupt, a limit of time, a drain."""


class WrongShape(TrainingError):
    """A model whose output does not fit the graph."""
